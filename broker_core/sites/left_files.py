"""What a job left at its site: the files that did not come home, and how they are written down here."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace

MOST_NAMES = 100
"""Names that are listed of what one job left; the rest is counted."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class LeftFile:
    """A file that is at the site alone."""

    path: str
    """Relative to the job's directory; bytes that are no UTF-8 as surrogates."""
    size: int
    """Bytes."""

    @property
    def shown(self) -> str:
        """The path for people and for the wire: bytes that are no UTF-8 as `\\x..`."""
        return os.fsencode(self.path).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class LeftAtSite:
    """What one attempt left there."""

    files: tuple[LeftFile, ...] = ()
    more: int = 0
    """Files beyond those that are listed, and their bytes."""
    more_bytes: int = 0
    since: float = 0.0
    """Seconds since the epoch."""
    goes: float | None = None
    """When it is removed there, seconds since the epoch; None: with the job alone."""
    fetched: tuple[str, ...] = ()
    """What was brought later, as it is shown."""

    @property
    def is_empty(self) -> bool:
        """Nothing is there any more that is not here."""
        return not self.files and not self.more

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(one.size for one in self.files) + self.more_bytes

    def without(self, names: Collection[str], *, fetched: bool = False) -> LeftAtSite:
        """What is left when these, by their shown paths, are `fetched` or forgotten."""
        paths = frozenset(names)
        left = tuple(one for one in self.files if paths.isdisjoint((one.shown, one.path)))
        brought = (*self.fetched, *names) if fetched else self.fetched
        return replace(self, files=left, fetched=tuple(dict.fromkeys(brought)))


def written(left: LeftAtSite) -> bytes:
    """As it is kept."""
    return json.dumps(asdict(left)).encode()


def read_written(raw: bytes) -> LeftAtSite | None:
    """What `written` kept; None where a power cut left a part of it."""
    try:
        found = json.loads(raw)
        files = tuple(LeftFile(one["path"], one["size"]) for one in found.pop("files"))
        return LeftAtSite(files=files, fetched=tuple(found.pop("fetched")), **found)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def shortened(by_tag: Mapping[str, LeftAtSite], most: int, now: float) -> dict[str, LeftAtSite]:
    """Those of `by_tag`, that go sooner so that all have at most `most` bytes: the oldest first.

    Nothing goes within a day, so that its owner can see it before; what goes by then counts no more.
    """
    soon = now + _DAY
    stay = {tag: left for tag, left in by_tag.items() if left.goes is None or left.goes > soon}
    total, found = sum(left.size for left in stay.values()), {}
    for tag, left in sorted(stay.items(), key=lambda item: (item[1].since, item[0])):
        if not most or total <= most:
            break
        total -= left.size
        found[tag] = replace(left, goes=soon)
    return found
