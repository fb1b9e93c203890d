"""The queries of the sidebar: the desktop's own, and those the user saved; one with a folder is a project."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.stores.preferences import Preferences
from broker_core.jobs.query import common_tag


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A query with a name; the desktop's own have an icon and cannot be removed."""

    name: str
    text: str
    icon: str = ""
    folder: str = ""
    """Where the output of its jobs goes; with one it is a project."""

    @property
    def tag(self) -> str:
        """The tag that new jobs get while it is the project that is shown; empty: none."""
        return common_tag(self.text) if self.folder else ""


def tag_query(tag: str) -> str:
    """The query for the jobs with a tag."""
    return f"tag:{tag}"


BUILT_IN = (
    SavedQuery("All jobs", "", "inbox"),
    SavedQuery("Running", "state:running", "play"),
    SavedQuery("Waiting", "state:queued", "hourglass"),
    SavedQuery("Failed today", "failed:today", "triangle-alert"),
    SavedQuery("Done today", "state:done ended:today", "circle-check"),
    SavedQuery("Outside", "outside:yes", "external-link"),
)


class SavedQueries(QObject):
    """All queries of the sidebar, in order."""

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences

    @property
    def own(self) -> tuple[SavedQuery, ...]:
        """The user's queries and projects."""
        folders = self._preferences["projects"]
        return tuple(
            SavedQuery(str(item[0]), str(item[1]), folder=str(folders.get(str(item[0]), "")))
            for item in self._preferences["saved_queries"]
            if len(item) == 2
        )

    @property
    def all(self) -> tuple[SavedQuery, ...]:
        """The desktop's queries, then the user's."""
        return BUILT_IN + self.own

    @property
    def project(self) -> SavedQuery | None:
        """The project whose jobs the table shows; None: it shows others."""
        shown = str(self._preferences["query"]).strip()
        return next((one for one in self.own if one.folder and one.text == shown), None)

    def tags_of_new(self) -> tuple[str, ...]:
        """Tags that jobs get which are submitted now."""
        project = self.project
        return (project.tag,) if project is not None and project.tag else ()

    def save(self, name: str, text: str, folder: str = "", before: str = "") -> None:
        """Keep a query, with a folder a project; one of the same name, or named `before`, is replaced."""
        self._keep(
            [one for one in self.own if one.name not in (name, before)], SavedQuery(name, text, folder=folder)
        )

    def remove(self, name: str) -> None:
        """Forget a query or project of the user."""
        self._keep([one for one in self.own if one.name != name])

    def _keep(self, others: list[SavedQuery], *more: SavedQuery) -> None:
        every = [*others, *more]
        # Folders apart, because desktops of earlier versions know queries as pairs.
        self._preferences["projects"] = {one.name: one.folder for one in every if one.folder}
        self._preferences["saved_queries"] = [[one.name, one.text] for one in every]
        self.changed.emit()
