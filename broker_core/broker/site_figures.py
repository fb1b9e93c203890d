"""How many of this broker's jobs are at each site, and how that went: counts, throughput, history."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.live_job import AT_SITE

HOUR = 3600.0
MINUTE = 60.0
SAMPLE = 15.0
"""Seconds between two points of the history."""
POINTS = 960
"""Points kept of each site: four hours."""


@dataclass(slots=True)
class Course:
    """How the queue of one site went: moments in seconds since the epoch, with this broker's jobs."""

    times: deque[float] = field(default_factory=lambda: deque(maxlen=POINTS))
    queued: deque[int] = field(default_factory=lambda: deque(maxlen=POINTS))
    running: deque[int] = field(default_factory=lambda: deque(maxlen=POINTS))


class SiteFigures:
    """Follows the events of all jobs; `FigureFiles` keeps the past over a restart.

    Kept by `JobRecord.site`, of which there are few; the names of sites come in with the questions.
    """

    def __init__(self) -> None:
        self._at: dict[str, tuple[str, bool]] = {}
        self._queued: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._ended: dict[str, deque[tuple[float, int]]] = {}
        self.courses: dict[str, Course] = {}
        """By name of the site."""
        self.changes = 0
        """Rises with each change."""

    def note(self, record: JobRecord, now: float) -> None:
        """A job has taken a step; `now`: seconds since the epoch."""
        before = self._at.get(record.id)
        after = (record.site, record.state is JobState.RUNNING) if record.state in AT_SITE else None
        if before == after:
            return
        self.changes += 1
        if before is not None:
            (self._running if before[1] else self._queued)[before[0]] -= 1
            if record.state.ended:
                self._end(before[0], now)
        if after is None:
            del self._at[record.id]
        else:
            (self._running if after[1] else self._queued)[after[0]] += 1
            self._at[record.id] = after

    def _end(self, where: str, now: float) -> None:
        minutes = self._ended.setdefault(where, deque(maxlen=int(HOUR / MINUTE) + 1))
        minute = now // MINUTE * MINUTE
        if minutes and minutes[-1][0] == minute:
            minutes[-1] = minute, minutes[-1][1] + 1
        else:
            minutes.append((minute, 1))

    def queued(self, places: Collection[str]) -> int:
        """Jobs that wait at places (values of `JobRecord.site`)."""
        return sum(self._queued[place] for place in places)

    def running(self, places: Collection[str]) -> int:
        """Jobs that run there."""
        return sum(self._running[place] for place in places)

    def per_hour(self, places: Iterable[str], now: float) -> float:
        """Jobs that ended there within the last hour."""
        minutes = (pair for place in places for pair in self._ended.get(place, ()))
        return float(sum(count for minute, count in minutes if minute > now - HOUR))

    @property
    def busy(self) -> bool:
        """True while a job is at a site."""
        return bool(self._at)

    def kept(
        self, name: str, places: Collection[str]
    ) -> tuple[list[tuple[float, int, int]], dict[str, list[tuple[float, int]]]]:
        """The past of a site: points of its history, and the jobs that ended at each place by the minute."""
        course = self.courses.get(name, Course())
        points = list(zip(course.times, course.queued, course.running, strict=True))
        return points, {place: list(self._ended[place]) for place in places if place in self._ended}

    def restore(
        self,
        name: str,
        points: Iterable[tuple[float, int, int]],
        ended: Mapping[str, Iterable[tuple[float, int]]],
        now: float,
    ) -> None:
        """Begin with the past of a site, as `kept` gave it; nothing was counted there yet."""
        course = self.courses.setdefault(name, Course())
        for time, queued, running in points:
            if now - POINTS * SAMPLE < time <= now:
                course.times.append(time)
                course.queued.append(queued)
                course.running.append(running)
        for place, minutes in ended.items():
            recent = [(minute, count) for minute, count in minutes if now - HOUR < minute <= now]
            if recent:
                self._ended[place] = deque(recent, maxlen=int(HOUR / MINUTE) + 1)

    @property
    def places(self) -> set[str]:
        """All values of `JobRecord.site` that were seen."""
        return {*self._queued, *self._running, *self._ended}

    def sample(self, now: float, places: Mapping[str, Collection[str]]) -> None:
        """Keep a point of each site's history. `places`: name of the site to the places that are its own."""
        for name, mine in places.items():
            course = self.courses.setdefault(name, Course())
            course.times.append(now)
            course.queued.append(self.queued(mine))
            course.running.append(self.running(mine))
