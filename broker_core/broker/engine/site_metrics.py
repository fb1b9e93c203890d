"""How many of this broker's jobs are at each site, and how that went: counts, throughput, history."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from broker_core.jobs.outcome import Outcome, outcome_of
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
WAITS = 30
"""Waits of jobs that are remembered for each computing element, the latest."""
WAIT_AGE = 7 * 24 * HOUR
"""Seconds after which a wait says nothing of today."""
COUNTED = (Outcome.DONE, Outcome.FAILED)
"""Outcomes that are counted by the hour; a job that was canceled says nothing of the site."""
_MOST_MINUTES = int(HOUR / MINUTE) + 1
_Minutes = deque[tuple[float, int]]
"""Minutes, in seconds since the epoch, with the jobs that ended in each; oldest first."""
MinutesOfElements = dict[str, list[tuple[float, int]]]
"""The same for each computing element, by its id."""
NOTHING: Mapping[str, Mapping[str, Iterable[tuple[float, int]]]] = {}


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
        self._ended: dict[ComputingElement, _Minutes] = {}
        self._by_outcome: dict[Outcome, dict[ComputingElement, _Minutes]] = {one: {} for one in COUNTED}
        self.courses: dict[str, Course] = {}
        """By name of the site."""
        self._waits: dict[ComputingElement, deque[tuple[float, float]]] = {}
        """When jobs started there, and for how many seconds they had waited; oldest first."""
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
                    outcome = outcome_of(record.state, record.exit_code)
                    _count(self._ended, ce, now)
                    if outcome in COUNTED:
                        _count(self._by_outcome[outcome], ce, now)
        if after is None:
            del self._at[record.id]
        else:
            for ce in _one_of_each_site(after[0]):
                (self._running if after[1] else self._queued)[ce] += 1
                if after[1] and before is not None and not before[1] and record.scheduled is not None:
                    self._note_wait(ce, now, max(0.0, now - record.scheduled))
            self._at[record.id] = after

    def _note_wait(self, ce: ComputingElement, now: float, seconds: float) -> None:
        self._waits.setdefault(ce, deque(maxlen=WAITS)).append((now, seconds))

    def usual_wait(self, id: str, now: float) -> float | None:
        """Median of the seconds that this broker's latest jobs waited at a computing element; None: there
        were none lately."""
        waits = self._waits.get(computing_element(id), ())
        recent = [seconds for time, seconds in waits if 0 <= now - time < WAIT_AGE]
        return median(recent) if recent else None

    def stored_waits(self, name: str) -> dict[str, list[tuple[float, float]]]:
        """Waits at each computing element (by id) of a site: when they ended, and their seconds."""
        return {ce.id: list(waits) for ce, waits in self._waits.items() if ce.site == name}

    def restore_waits(self, waits: Mapping[str, Iterable[tuple[float, float]]]) -> None:
        """Begin with the waits that `stored_waits` gave."""
        for id, some in waits.items():
            for time, seconds in some:
                self._note_wait(computing_element(id), time, seconds)

    def queued(self, name: str) -> int:
        """Jobs that wait at a site."""
        return sum(count for ce, count in self._queued.items() if ce.site == name)

    def running(self, name: str) -> int:
        """Jobs that run there."""
        return sum(count for ce, count in self._running.items() if ce.site == name)

    def outcome_per_hour(self, name: str, outcome: Outcome, now: float) -> int:
        """Jobs that ended there within the last hour with one of the outcomes COUNTED."""
        return _recent(self._by_outcome[outcome], name, now)

    def per_hour(self, name: str, now: float) -> float:
        """Jobs that ended there within the last hour."""
        return float(_recent(self._ended, name, now))

    @property
    def busy(self) -> bool:
        """True while a job is at a site."""
        return bool(self._at)

    def kept(self, name: str) -> tuple[list[tuple[float, int, int]], MinutesOfElements]:
        """The past of a site: points of its history, and the jobs that ended at each of its computing
        elements (by id) by the minute."""
        course = self.courses.get(name, Course())
        points = list(zip(course.times, course.queued, course.running, strict=True))
        return points, _of_site(self._ended, name)

    def stored_outcomes(self, name: str) -> dict[str, MinutesOfElements]:
        """Of the jobs that ended there, those of each outcome COUNTED, as `kept` has them all."""
        return {outcome.value: _of_site(ends, name) for outcome, ends in self._by_outcome.items()}

    def restore(
        self,
        name: str,
        points: Iterable[tuple[float, int, int]],
        ended: Mapping[str, Iterable[tuple[float, int]]],
        now: float,
        outcomes: Mapping[str, Mapping[str, Iterable[tuple[float, int]]]] = NOTHING,
    ) -> None:
        """Begin with the past of a site, as `kept` and `stored_outcomes` gave it; nothing was counted yet."""
        course = self.courses.setdefault(name, Course())
        for time, queued, running in points:
            if now - POINTS * SAMPLE < time <= now:
                course.times.append(time)
                course.queued.append(queued)
                course.running.append(running)
        _take(self._ended, ended, now)
        for outcome, ends in self._by_outcome.items():
            _take(ends, outcomes.get(outcome.value, {}), now)

    def sample(self, now: float, names: Iterable[str]) -> None:
        """Keep a point of the history of each of these sites."""
        for name in names:
            course = self.courses.setdefault(name, Course())
            course.times.append(now)
            course.queued.append(self.queued(name))
            course.running.append(self.running(name))


def _one_of_each_site(placements: tuple[Placement, ...]) -> Iterable[ComputingElement]:
    return {one.ce.site: one.ce for one in reversed(placements)}.values()


def _count(ends: dict[ComputingElement, _Minutes], where: ComputingElement, now: float) -> None:
    """One more job ended there in this minute."""
    minutes = ends.setdefault(where, deque(maxlen=_MOST_MINUTES))
    minute = now // MINUTE * MINUTE
    if minutes and minutes[-1][0] == minute:
        minutes[-1] = minute, minutes[-1][1] + 1
    else:
        minutes.append((minute, 1))


def _recent(ends: Mapping[ComputingElement, _Minutes], name: str, now: float) -> int:
    """Jobs of a site within the last hour."""
    minutes = (pair for ce, pairs in ends.items() if ce.site == name for pair in pairs)
    return sum(count for minute, count in minutes if minute > now - HOUR)


def _of_site(ends: Mapping[ComputingElement, _Minutes], name: str) -> MinutesOfElements:
    return {ce.id: list(minutes) for ce, minutes in ends.items() if ce.site == name}


def _take(
    ends: dict[ComputingElement, _Minutes], stored: Mapping[str, Iterable[tuple[float, int]]], now: float
) -> None:
    """Take over what was kept, as far as it is of the last hour."""
    for ids, minutes in stored.items():
        recent = [(minute, count) for minute, count in minutes if now - HOUR < minute <= now]
        if recent:
            ends[computing_element(next(iter(ids_in(ids)), ""))] = deque(recent, maxlen=_MOST_MINUTES)
