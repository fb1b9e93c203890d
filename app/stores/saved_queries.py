"""The queries of the sidebar: the desktop's own, and those the user saved."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.stores.preferences import Preferences


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query with a name; the desktop's own have an icon and cannot be removed."""

    name: str
    text: str
    icon: str = ""


BUILT_IN = (
    SavedQuery("All jobs", "", "inbox"),
    SavedQuery("Running", "state:running", "play"),
    SavedQuery("Waiting", "state:queued", "hourglass"),
    SavedQuery("Failed today", "failed:today", "triangle-alert"),
    SavedQuery("Done today", "state:done ended:today", "circle-check"),
)


class SavedQueries(QObject):
    """All queries of the sidebar, in order."""

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences

    @property
    def own(self) -> tuple[SavedQuery, ...]:
        """The user's queries."""
        return tuple(
            SavedQuery(str(item[0]), str(item[1]))
            for item in self._preferences["saved_queries"]
            if len(item) == 2
        )

    @property
    def all(self) -> tuple[SavedQuery, ...]:
        """The desktop's queries, then the user's."""
        return BUILT_IN + self.own

    def save(self, name: str, text: str) -> None:
        """Keep a query; one of the same name is replaced."""
        kept = [[query.name, query.text] for query in self.own if query.name != name]
        self._preferences["saved_queries"] = [*kept, [name, text]]
        self.changed.emit()

    def remove(self, name: str) -> None:
        """Forget a query of the user."""
        self._preferences["saved_queries"] = [[one.name, one.text] for one in self.own if one.name != name]
        self.changed.emit()
