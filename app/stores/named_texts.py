"""Texts that the user keeps under names: templates of descriptions, and presets of what jobs need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.stores.preferences import Preferences

LONGEST = 20_000
"""Characters of a text: all of them travel together with the other preferences that follow the user."""


@dataclass(frozen=True, slots=True)
class NamedText:
    """A description, or what one asks for, with a name."""

    name: str
    text: str
    favorite: bool = False
    """Favorites stand first."""


class NamedTexts(QObject):
    """All texts of one kind, favorites first, each part in the order in which they were saved."""

    changed = Signal()

    def __init__(self, preferences: Preferences, kind: str, parent: QObject | None = None) -> None:
        """`kind`: name of the preference that holds them, one of `roaming.FOLLOWING`."""
        super().__init__(parent)
        self._preferences, self._kind = preferences, kind

    @property
    def all(self) -> tuple[NamedText, ...]:
        """The texts in the order in which they are offered."""
        found = [_read(item) for item in self._preferences[self._kind]]
        return tuple(sorted(filter(None, found), key=lambda one: not one.favorite))

    def save(self, name: str, text: str, before: str = "") -> None:
        """Keep a text; one of the same name is replaced and stays a favorite if it was one.

        `before`: the name that it had, which is given up. Raises ValueError, in words, if it is too long.
        """
        if len(text) > LONGEST:
            raise ValueError(f"What is kept has at most {LONGEST:,} characters; this has {len(text):,}.")
        favorite = any(one.favorite for one in self.all if one.name in (name, before))
        others = [one for one in self.all if one.name not in (name, before)]
        self._keep([*others, NamedText(name, text, favorite)])

    def remove(self, name: str) -> None:
        """Forget a text."""
        self._keep([one for one in self.all if one.name != name])

    def set_favorite(self, name: str, favorite: bool) -> None:
        """Put a text first, or back among the others."""
        self._keep([NamedText(one.name, one.text, favorite) if one.name == name else one for one in self.all])

    def _keep(self, texts: list[NamedText]) -> None:
        self._preferences[self._kind] = [[one.name, one.text, one.favorite] for one in texts]
        self.changed.emit()


def _read(item: object) -> NamedText | None:
    match item:
        case [str(name), str(text), bool(favorite)]:
            return NamedText(name, text, favorite)
    return None
