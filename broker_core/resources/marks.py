"""Marks of error handling: a resource that is down, or temporarily not working (CB-CACHE-08)."""

from __future__ import annotations

from dataclasses import dataclass

DOWN, BAD, STALE, DRAINED, THROTTLED = "down", "bad", "stale", "drained", "throttled"
"""Words for marks: does not answer; fails for a while; not heard of; accepts no new jobs; gets few jobs."""


_DOUBT = 16
"""Failures after which no pause grows any more; a site that always refuses has thousands."""


@dataclass(slots=True)
class Fault:
    """What went wrong at a computing element lately."""

    failures: int
    until: float
    """Monotonic; left alone until then."""
    reason: str
    down: bool = False
    """Left alone until a source reports it healthy again."""


class Faults:
    """Computing elements that failed, each with longer pauses the more often it did (CB-ERR-1, CB-ERR-2)."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._by_ce: dict[str, Fault] = {}

    def failed(self, ce: str, now: float, reason: str, *, counts: bool = True) -> Fault:
        """Leave a resource alone for a while, four times as long with each failure that counts."""
        known = self._by_ce.get(ce)
        failures = (known.failures if known else 0) + counts
        pause = min(self._longest, self._first * 4.0 ** min(_DOUBT, max(0, failures - 1)))
        found = self._by_ce[ce] = Fault(failures, now + pause, reason, bool(known and known.down))
        return found

    def down(self, ce: str, now: float, reason: str) -> None:
        """A resource does not answer at all."""
        self.failed(ce, now, reason).down = True

    def healthy(self, ce: str) -> bool:
        """A source reported a resource as working: `down` ends. True if it was down."""
        known = self._by_ce.get(ce)
        if known is None or not known.down:
            return False
        known.down = False
        return True

    def reached(self, ce: str) -> None:
        """There is contact again with a resource that did not answer: it is left alone no longer."""
        known = self._by_ce.get(ce)
        if known is not None and known.down:
            del self._by_ce[ce]

    def worked(self, ce: str) -> bool:
        """A resource took an attempt: its failures are forgotten. True if there were any."""
        return self._by_ce.pop(ce, None) is not None

    def at(self, ce: str, now: float) -> Fault | None:
        """The trouble for which a resource is left alone now."""
        known = self._by_ce.get(ce)
        return known if known is not None and (known.down or now < known.until) else None

    def next_trial(self, now: float) -> float | None:
        """When the first resource that is left alone may be tried again."""
        return min((one.until for one in self._by_ce.values() if one.until > now), default=None)
