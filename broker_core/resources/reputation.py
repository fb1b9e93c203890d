"""How computing elements treated their jobs lately; those that fail them fast, black holes, are throttled.

A black hole fails its jobs so fast that it always has room for the next one. What counts against a computing
element is that jobs end there before their program begins, or fall silent. A program that ends badly by
itself counts only where the same job ends well elsewhere, or where several different ones end badly within
seconds. One that is lost while it runs counts once such jobs have ended well anywhere: it may have killed its
starter itself.
Nothing of this outlives the broker: it is learned anew from the first few jobs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

FEW = 3.0
"""Failures from which a computing element can be throttled."""
MANY_KINDS = 8
"""Different kinds of jobs that end badly in a row and so speak against the place, not against themselves."""
ENOUGH = 16
"""Jobs at once from which a throttled one is trusted again."""
_MOST = 12.0
"""More failures than this do not make the throttling longer."""
_KINDS = 2000
_FRESH = 1 / 64
"""Part of the half-life in which nothing decays."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """Why and how far a computing element is throttled."""

    reason: str
    most: int
    """Jobs of this broker that may be there at once."""
    next: float
    """When the next job may be sent, monotonic."""
    until: float
    """When it is trusted again if nothing is heard, monotonic."""


@dataclass(slots=True)
class TrackRecord:
    """Outcomes of jobs at one computing element; both counts decay."""

    done: float = 0.0
    failed: float = 0.0
    at: float = 0.0
    throttle: Throttle | None = None
    pause: float = 0.0
    """Seconds between two jobs sent to try it out."""
    odd: dict[str, int] = field(default_factory=dict)
    """Kinds of jobs that ended badly within seconds since the last that ended well, and how many of each."""


class Successes(Mapping[str, float]):
    """Computing element to the part of its jobs that ended well lately, 0 to 1."""

    def __init__(self, by_ce: Mapping[str, TrackRecord]) -> None:
        self._by_ce = by_ce

    def __getitem__(self, ce: str) -> float:
        conduct = self._by_ce[ce]
        if not conduct.done + conduct.failed:
            raise KeyError(ce)
        return conduct.done / (conduct.done + conduct.failed)

    def __iter__(self) -> Iterator[str]:
        return (ce for ce, conduct in self._by_ce.items() if conduct.done + conduct.failed)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Reputation:
    """Learns from outcomes; moments are of the monotonic clock and do not go back."""

    def __init__(self, half_life: float, first_pause: float, longest_pause: float) -> None:
        self._half_life = half_life
        self._fresh = half_life * _FRESH
        self._first_pause = first_pause
        self._longest_pause = longest_pause
        self._by_ce: dict[str, TrackRecord] = {}
        self._good: dict[str, set[str]] = {}
        """Kind of job to the computing elements where such jobs ended well."""
        self.successes = Successes(self._by_ce)
        self.throttled: set[str] = set()
        """Computing elements that are throttled, or were until a moment ago; to be read only."""
        self.changed: set[str] = set()
        """Computing elements whose throttle is another one since this was emptied last."""

    def of(self, ce: str, now: float) -> TrackRecord:
        """How a computing element did lately."""
        known = self._by_ce.get(ce)
        return TrackRecord(at=now) if known is None else self._current(ce, now)

    def at(self, ce: str, now: float) -> Throttle | None:
        """The throttle in force."""
        if ce not in self.throttled:
            return None
        throttle = self._by_ce[ce].throttle
        if throttle is None or throttle.until <= now:
            self._trust(ce, self._current(ce, now))
            return None
        return throttle

    def succeeded(self, ce: str, kind: str, now: float) -> None:
        """A job of a kind ended well."""
        conduct = self._by_ce.get(ce)
        if conduct is None or now - conduct.at > self._fresh:
            conduct = self._current(ce, now)
        conduct.done += 1.0
        if conduct.odd:
            conduct.odd.clear()
        if conduct.throttle is not None:
            self._probed_well(ce, conduct, conduct.throttle, now)
        good = self._good.get(kind)
        if good is None or ce not in good:
            self._first_success(ce, kind, now)

    def neutral(self, ce: str, now: float) -> None:
        """A job ended as it would have anywhere."""
        conduct = self._current(ce, now)
        conduct.done += 1.0

    def failed(self, ce: str, reason: str, now: float, times: float = 1.0) -> None:
        """A computing element failed a job."""
        conduct = self._current(ce, now)
        conduct.failed = min(_MOST, conduct.failed + times)
        if conduct.throttle is not None:
            # What was sent before the throttle fails along with the rest and says nothing new.
            if now >= conduct.throttle.next:
                self._throttle(ce, conduct, reason, min(self._longest_pause, 2.0 * conduct.pause), now)
        elif conduct.failed > FEW - 0.5 and conduct.failed > conduct.done:
            self._throttle(ce, conduct, reason, self._first_pause, now)

    def ended_badly(self, ce: str, kind: str, reason: str, now: float) -> None:
        """A program ended badly within seconds: that may be its own fault or that of the place."""
        good = self._good.get(kind)
        if good is not None and ce not in good:
            self.failed(ce, f"{reason}; such jobs end well elsewhere", now)
            return
        self.neutral(ce, now)
        odd = self._by_ce[ce].odd
        odd[kind] = odd.get(kind, 0) + 1
        if len(odd) >= MANY_KINDS and any(there != {ce} for there in self._good.values()):
            times = float(len(odd))
            odd.clear()
            self._blame(ce, f"{reason}; so did jobs of {int(times)} kinds in a row", now, times)

    def lost(self, ce: str, kind: str, reason: str, now: float) -> None:
        """A program that ran was lost with its starter. A kind of job that is known to end well did not do
        that itself; another may have (reliability case 24)."""
        if kind in self._good:
            self.failed(ce, reason, now)
        else:
            self.ended_badly(ce, kind, reason, now)

    def _first_success(self, ce: str, kind: str, now: float) -> None:
        """A kind of job ended well here for the first time: where it ended badly the place was the cause."""
        if len(self._good) >= _KINDS and kind not in self._good:
            del self._good[next(iter(self._good))]
        self._good.setdefault(kind, set()).add(ce)
        for other, one in self._by_ce.items():
            if one.odd and kind in one.odd:
                times = float(one.odd.pop(kind))
                self._blame(other, "jobs end badly within seconds that end well elsewhere", now, times)

    def _blame(self, ce: str, reason: str, now: float, times: float) -> None:
        """What was thought to be the fault of jobs was that of the place."""
        conduct = self._current(ce, now)
        conduct.done = max(0.0, conduct.done - times)
        self.failed(ce, reason, now, times)

    def _current(self, ce: str, now: float) -> TrackRecord:
        conduct = self._by_ce.get(ce)
        if conduct is None:
            conduct = self._by_ce[ce] = TrackRecord(at=now)
        elif now - conduct.at > self._fresh:
            left = 0.5 ** ((now - conduct.at) / self._half_life)
            conduct.done *= left
            conduct.failed *= left
            conduct.at = now
        return conduct

    def _throttle(self, ce: str, conduct: TrackRecord, reason: str, pause: float, now: float) -> None:
        lasts = self._half_life * math.log2(max(2.0, 2.0 * conduct.failed / FEW))
        conduct.pause = pause
        conduct.throttle = Throttle(reason, 1, now + pause, now + lasts)
        self.throttled.add(ce)
        self.changed.add(ce)

    def _probed_well(self, ce: str, conduct: TrackRecord, was: Throttle, now: float) -> None:
        """Twice as many at once with every job that ends well."""
        conduct.pause = self._first_pause
        if 2 * was.most > ENOUGH:
            self._trust(ce, conduct)
        else:
            conduct.throttle = Throttle(was.reason, 2 * was.most, now, was.until)
            self.changed.add(ce)

    def _trust(self, ce: str, conduct: TrackRecord) -> None:
        conduct.throttle = None
        conduct.failed = min(conduct.failed, FEW / 2)
        self.throttled.discard(ce)
        self.changed.add(ce)
