"""All that a job has published so far, within bounds of memory: the newest array of each name, all curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from broker_core.jobs.published.decoder import Decoded, RecordDecoder
from broker_core.jobs.published.parameters import Parameter, ParameterHistory, ParameterUse
from broker_core.jobs.published.records import MOST, ArrayRecord, Points, Progress, TableRecord

MOST_IN_MEMORY = 8_000_000
"""Points of all curves in memory; of the longest every second pair of extremes is dropped beyond that."""
_MOST_CURVES, _MOST_ARRAYS, _MOST_TABLES, _MOST_FRAMES = 256, 64, 32, 100_000
_FIRST = 256


class Curve:
    """A growing curve. Readers in another thread see whole points."""

    def __init__(self) -> None:
        self._x, self._y = np.empty(_FIRST), np.empty(_FIRST)
        self._shown = (self._x, self._y, 0)
        self.rises = True
        """The x of each point is not less than that of the one before."""
        self.counted = 0
        """Points that came, also those that were thinned out since."""

    def __len__(self) -> int:
        return self._shown[2]

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """All x and y."""
        x, y, count = self._shown
        return x[:count], y[:count]

    def add(self, x: np.ndarray | None, y: np.ndarray) -> None:
        """Add points; `x` None: they are counted on from 0."""
        count = len(self)
        if x is None:
            x = np.arange(self.counted, self.counted + len(y), dtype=float)
        if count + len(y) > len(self._y):
            self._grow(count + len(y))
        self._x[count : count + len(y)] = x
        self._y[count : count + len(y)] = y
        begin = max(0, count - 1)
        self.rises = self.rises and bool(np.all(np.diff(self._x[begin : count + len(y)]) >= 0))
        self.counted += len(y)
        self._shown = (self._x, self._y, count + len(y))

    def thin(self) -> None:
        """Keep the least and the greatest of each four points."""
        x, y = self.points()
        whole = len(y) // 4 * 4
        parts = np.where(np.isnan(y[:whole]), 0.0, y[:whole]).reshape(-1, 4)
        base = np.arange(0, whole, 4)
        picks = np.sort(np.stack((base + parts.argmin(1), base + parts.argmax(1)), axis=1), axis=1).ravel()
        picks = np.concatenate((picks, np.arange(whole, len(y))))
        self._x, self._y = x[picks], y[picks]
        self._shown = (self._x, self._y, len(picks))

    def _grow(self, least: int) -> None:
        room = max(least, 2 * len(self._y))
        count = len(self)
        x, y = np.empty(room), np.empty(room)
        x[:count], y[:count] = self.points()
        self._x, self._y = x, y
        self._shown = (x, y, count)


@dataclass(slots=True)
class ArrayHistory:
    """The newest array of a name, and where the earlier ones stand in the file."""

    newest: ArrayRecord
    frames: list[tuple[int, int]] = field(default_factory=list)
    """Start and size of each record."""
    left_out: int = 0
    """Earlier ones that are not listed any more."""


class Recording:
    """What one job published."""

    def __init__(self) -> None:
        self._decoder = RecordDecoder()
        self.curves: dict[str, Curve] = {}
        self.arrays: dict[str, ArrayHistory] = {}
        self.tables: dict[str, TableRecord] = {}
        self.progress: Progress | None = None
        self.steering = ParameterHistory()
        self._x: float | None = None
        """Of the latest point."""
        self.records = 0
        self.overflow = 0
        """Records of names beyond those that are shown."""
        self.thinned = False
        """Not all points of the longest curves are in memory."""

    @property
    def position(self) -> int:
        """Bytes of the file that were taken."""
        return self._decoder.position

    @property
    def unreadable(self) -> int:
        """Lines that were no records."""
        return self._decoder.unreadable

    @property
    def reason(self) -> str:
        """What was wrong with the first of them."""
        return self._decoder.reason

    @property
    def full(self) -> bool:
        """The job has published all that it may."""
        return self.position >= MOST

    def feed(self, content: bytes) -> int:
        """Take the next bytes of the file; returns the number of records in them."""
        found = self._decoder.feed(content[: MOST - self.position])
        for one in found:
            self._add(one)
        self.records += len(found)
        self._bound()
        return len(found)

    def _add(self, one: Decoded) -> None:
        match one.record:
            case Points(values, x):
                for name, y in values.items():
                    if self._has_room(self.curves, name, _MOST_CURVES):
                        curve = self.curves.setdefault(name, Curve())
                        curve.add(x, y)
                        self._x = float(x[-1]) if x is not None and len(x) else float(curve.counted - 1)
            case ArrayRecord(name=name) as array:
                if self._has_room(self.arrays, name, _MOST_ARRAYS):
                    self._add_array(array, one.start, one.size)
            case TableRecord(name=name) as table:
                if self._has_room(self.tables, name, _MOST_TABLES):
                    self.tables[name] = table
            case Progress() as progress:
                self.progress = progress
            case Parameter() as parameter:
                self.steering.declare(parameter)
            case ParameterUse() as use:
                self.steering.use(use, self._x)

    def _add_array(self, array: ArrayRecord, start: int, size: int) -> None:
        history = self.arrays.setdefault(array.name, ArrayHistory(array))
        history.newest = array
        history.frames.append((start, size))
        if len(history.frames) > _MOST_FRAMES:
            del history.frames[0]
            history.left_out += 1

    def _has_room(self, there: Mapping[str, object], name: str, most: int) -> bool:
        if name in there or len(there) < most:
            return True
        self.overflow += 1
        return False

    def _bound(self) -> None:
        total = sum(map(len, self.curves.values()))
        size: Callable[[Curve], int] = len
        while total > MOST_IN_MEMORY:
            longest = max(self.curves.values(), key=size)
            before = len(longest)
            longest.thin()
            total -= before - len(longest)
            self.thinned = True
