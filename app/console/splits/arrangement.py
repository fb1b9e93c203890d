"""How the parts of a console stand, kept for the next time that the console is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from app.stores.preferences import Preferences

_WORDS = {Qt.Orientation.Horizontal: "beside", Qt.Orientation.Vertical: "below"}
_WAYS = {word: way for way, word in _WORDS.items()}
_NAME = "console_parts"
_JOBS, _PARTS = 50, 24
"""Consoles whose arrangement is kept, and parts that one of them may have."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Parts in one direction; each is the name of what is shown, or parts in the other direction."""

    way: Qt.Orientation
    parts: tuple[str | Arrangement, ...]
    shares: tuple[float, ...]
    """Of the room, 1 in all."""

    def names(self) -> Iterator[str]:
        """Names of all parts, in the order in which they are read."""
        for part in self.parts:
            if isinstance(part, str):
                yield part
            else:
                yield from part.names()


def first(part: str | Arrangement) -> str:
    """Name of the first part."""
    return part if isinstance(part, str) else next(part.names())


def only(arrangement: Arrangement, wanted: Callable[[str], bool]) -> str | Arrangement | None:
    """What is left with the parts that are wanted; those beside a part that is not get its room."""
    left: list[tuple[str | Arrangement, float]] = []
    for part, share in zip(arrangement.parts, arrangement.shares, strict=True):
        stays = only(part, wanted) if isinstance(part, Arrangement) else part if wanted(part) else None
        if stays is not None:
            left.append((stays, share))
    if len(left) < 2:
        return left[0][0] if left else None
    room = sum(share for _, share in left)
    parts, shares = zip(*left, strict=True)
    return Arrangement(arrangement.way, parts, tuple(share / room for share in shares))


def keep(preferences: Preferences, job: str, arrangement: Arrangement) -> None:
    """Remember how the parts of the console of a job stand; one part alone needs no arrangement."""
    kept = {name: value for name, value in preferences[_NAME].items() if name != job}
    if len(arrangement.parts) > 1:
        kept[job] = _plain(arrangement)
    preferences[_NAME] = dict(list(kept.items())[-_JOBS:])


def kept(preferences: Preferences, job: str) -> Arrangement | None:
    """How the parts of the console of a job stood; None: it had one, or what was kept cannot be read."""
    try:
        found = _read(preferences[_NAME][job])
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    return found if sum(1 for _ in found.names()) <= _PARTS else None


def _plain(part: str | Arrangement) -> Any:
    if isinstance(part, str):
        return part
    shares = [round(share, 3) for share in part.shares]
    return {"way": _WORDS[part.way], "parts": [_plain(one) for one in part.parts], "shares": shares}


def _read(value: Any) -> Arrangement:
    """Raises KeyError, TypeError or ValueError where it is no arrangement."""
    parts = tuple(one if isinstance(one, str) else _read(one) for one in value["parts"])
    shares = tuple(float(one) for one in value["shares"])
    if len(parts) < 2 or len(parts) != len(shares) or not all(0 < one < 1 for one in shares):
        raise ValueError("these are no parts that share a room")
    return Arrangement(_WAYS[value["way"]], parts, shares)
