"""How many of this broker's jobs are at each site, and how that went: counts, throughput, history."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from broker_core.jobs.placement import ComputingElement, Placement, computing_element, ids_in
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


class SiteMetrics:
    """Follows the events of all jobs; `MetricsFiles` keeps the past over a restart.

    Counted for each computing element, of which there are few; a job counts once for each of its sites.
    """

    def __init__(self) -> None:
        self._at: dict[str, tuple[tuple[Placement, ...], bool]] = {}
        self._queued: Counter[ComputingElement] = Counter()
        self._running: Counter[ComputingElement] = Counter()
        self._ended: dict[ComputingElement, deque[tuple[float, int]]] = {}
        self.courses: dict[str, Course] = {}
        """By name of the site."""
        self.changes = 0
        """Rises with each change."""

    def note(self, record: JobRecord, now: float) -> None:
        """A job has taken a step; `now`: seconds since the epoch."""
        before = self._at.get(record.id)
        after = (record.placements, record.state is JobState.RUNNING) if record.state in AT_SITE else None
        if before == after:
            return
        self.changes += 1
        if before is not None:
            for ce in _one_of_each_site(before[0]):
                (self._running if before[1] else self._queued)[ce] -= 1
                if record.state.ended:
                    self._end(ce, now)
        if after is None:
            del self._at[record.id]
        else:
            for ce in _one_of_each_site(after[0]):
                (self._running if after[1] else self._queued)[ce] += 1
            self._at[record.id] = after

    def _end(self, where: ComputingElement, now: float) -> None:
        minutes = self._ended.setdefault(where, deque(maxlen=int(HOUR / MINUTE) + 1))
        minute = now // MINUTE * MINUTE
        if minutes and minutes[-1][0] == minute:
            minutes[-1] = minute, minutes[-1][1] + 1
        else:
            minutes.append((minute, 1))

    def queued(self, name: str) -> int:
        """Jobs that wait at a site."""
        return sum(count for ce, count in self._queued.items() if ce.site == name)

    def running(self, name: str) -> int:
        """Jobs that run there."""
        return sum(count for ce, count in self._running.items() if ce.site == name)

    def per_hour(self, name: str, now: float) -> float:
        """Jobs that ended there within the last hour."""
        minutes = (pair for ce, pairs in self._ended.items() if ce.site == name for pair in pairs)
        return float(sum(count for minute, count in minutes if minute > now - HOUR))

    @property
    def busy(self) -> bool:
        """True while a job is at a site."""
        return bool(self._at)

    def kept(self, name: str) -> tuple[list[tuple[float, int, int]], dict[str, list[tuple[float, int]]]]:
        """The past of a site: points of its history, and the jobs that ended at each of its computing
        elements (by id) by the minute."""
        course = self.courses.get(name, Course())
        points = list(zip(course.times, course.queued, course.running, strict=True))
        return points, {ce.id: list(minutes) for ce, minutes in self._ended.items() if ce.site == name}

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
        for ids, minutes in ended.items():
            recent = [(minute, count) for minute, count in minutes if now - HOUR < minute <= now]
            if recent:
                ce = computing_element(next(iter(ids_in(ids)), ""))
                self._ended[ce] = deque(recent, maxlen=int(HOUR / MINUTE) + 1)

    def sample(self, now: float, names: Iterable[str]) -> None:
        """Keep a point of the history of each of these sites."""
        for name in names:
            course = self.courses.setdefault(name, Course())
            course.times.append(now)
            course.queued.append(self.queued(name))
            course.running.append(self.running(name))


def _one_of_each_site(placements: tuple[Placement, ...]) -> Iterable[ComputingElement]:
    return {one.ce.site: one.ce for one in reversed(placements)}.values()
