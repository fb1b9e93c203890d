"""The user's own templates: descriptions kept under a name, to begin other jobs from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.stores.preferences import Preferences

LONGEST = 20_000
"""Characters of a template: all of them travel together with the other preferences that follow the user."""


@dataclass(frozen=True, slots=True)
class OwnTemplate:
    """A description with a name."""

    name: str
    text: str
    favorite: bool = False
    """Favorites stand first."""


class OwnTemplates(QObject):
    """All templates of the user, favorites first, each part in the order in which they were saved."""

    changed = Signal()

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences

    @property
    def all(self) -> tuple[OwnTemplate, ...]:
        """The templates in the order in which they are offered."""
        found = [_read(item) for item in self._preferences["templates"]]
        return tuple(sorted(filter(None, found), key=lambda one: not one.favorite))

    def save(self, name: str, text: str) -> None:
        """Keep a template; one of the same name is replaced and stays a favorite if it was one.

        Raises ValueError, in words, if it is too long.
        """
        if len(text) > LONGEST:
            raise ValueError(f"A template has at most {LONGEST:,} characters; this has {len(text):,}.")
        favorite = any(one.favorite for one in self.all if one.name == name)
        self._keep([*self._others(name), OwnTemplate(name, text, favorite)])

    def remove(self, name: str) -> None:
        """Forget a template."""
        self._keep(self._others(name))

    def set_favorite(self, name: str, favorite: bool) -> None:
        """Put a template first, or back among the others."""
        self._keep(
            [OwnTemplate(one.name, one.text, favorite) if one.name == name else one for one in self.all]
        )

    def _others(self, name: str) -> list[OwnTemplate]:
        return [one for one in self.all if one.name != name]

    def _keep(self, templates: list[OwnTemplate]) -> None:
        self._preferences["templates"] = [[one.name, one.text, one.favorite] for one in templates]
        self.changed.emit()


def _read(item: object) -> OwnTemplate | None:
    match item:
        case [str(name), str(text), bool(favorite)]:
            return OwnTemplate(name, text, favorite)
    return None
