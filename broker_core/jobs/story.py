"""The story of a job, from its events: the way it took, where its time went, and what may follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from broker_core.jobs.events import JobEvent
from broker_core.jobs.placement import listed
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType, successors

EXPECTED_WAIT = "expected_wait"
"""Detail of a match: seconds until the start, as the computing element or its past foresaw them."""
_OF_ATTEMPT = frozenset({JobState.READY, JobState.SCHEDULED, JobState.RUNNING, JobState.DONE})


@dataclass(frozen=True, slots=True)
class Segment:
    """A stay in one state."""

    state: JobState
    attempt: int
    """Number of the execution attempt; 0 before the first match."""
    entered: float
    """Seconds since the epoch, UTC."""
    left: float | None
    """None while the job is still there."""
    reason: str
    """Why it came here, in words; may be empty."""
    resources: tuple[str, ...] = ()
    """Ids of the computing elements concerned."""

    def seconds(self, now: float) -> float:
        """Length of the stay, until `now` if it lasts; a clock that was set back gives 0."""
        return max(0.0, (now if self.left is None else self.left) - self.entered)


class StoryStep(StrEnum):
    """What a job's time goes into: the four steps of overhead (CB-UI-03), then the application."""

    PREPARING = "pre-processing"
    """From the submission until the scheduler has taken the job over."""
    SELECTING = "selection"
    """Until a resource is chosen; waiting for one is part of it."""
    SUBMITTING = "remote submission"
    """Until every computing element has the job."""
    STARTING = "start-up"
    """Until the application runs; the sites' queues are part of it."""
    RUNNING = "running"


_STEP_OF = {
    JobState.SUBMITTED: StoryStep.PREPARING,
    JobState.WAITING: StoryStep.SELECTING,
    JobState.READY: StoryStep.SUBMITTING,
    JobState.SCHEDULED: StoryStep.STARTING,
    JobState.RUNNING: StoryStep.RUNNING,
}


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that went into one step, over all attempts."""

    step: StoryStep
    seconds: float
    open: bool
    """True while the job is in this step."""
    expected: float | None = None
    """Seconds that were foreseen for it when the last attempt was matched; None: nobody foresaw any."""


def segments(events: Sequence[JobEvent]) -> tuple[Segment, ...]:
    """The states a job went through in order; one more for each new attempt or choice in Ready.

    Events that changed nothing (late messages, a purge) begin no segment.
    """
    told: list[Segment] = []
    for event in events:
        if told and not _moves(told[-1], event):
            continue
        if told:
            told[-1] = _closed(told[-1], event.time)
        told.append(
            Segment(
                state=event.new,
                attempt=max(event.attempt, told[-1].attempt if told else 0),
                entered=event.time,
                left=None,
                reason=event.reason,
                resources=event.resources,
            )
        )
    return tuple(told)


def _moves(last: Segment, event: JobEvent) -> bool:
    return event.new is not last.state or event.type is EventType.CHOICE_FAILED


def _closed(last: Segment, time: float) -> Segment:
    return Segment(last.state, last.attempt, last.entered, time, last.reason, last.resources)


def spent(events: Sequence[JobEvent], now: float) -> tuple[Spent, ...]:
    """Seconds in each of the steps that the job has reached, in the order of the steps."""
    seconds: dict[StoryStep, float] = {}
    way = segments(events)
    for segment in way:
        step = _STEP_OF.get(segment.state)
        if step is not None:
            seconds[step] = seconds.get(step, 0.0) + segment.seconds(now)
    current = _STEP_OF.get(way[-1].state) if way else None
    foreseen = {StoryStep.STARTING: _expected_wait(events)}
    return tuple(
        Spent(step, seconds[step], step is current, foreseen.get(step))
        for step in StoryStep
        if step in seconds
    )


def _expected_wait(events: Sequence[JobEvent]) -> float | None:
    """What the last choice of a resource promised."""
    waits = [event.details.get(EXPECTED_WAIT) for event in events if event.type is EventType.MATCHED]
    return float(waits[-1]) if waits and isinstance(waits[-1], int | float) else None


def attempts(events: Sequence[JobEvent]) -> tuple[tuple[Segment, ...], ...]:
    """The segments of each execution attempt, the first attempt first."""
    way = [segment for segment in segments(events) if segment.attempt and segment.state in _OF_ATTEMPT]
    numbers = sorted({segment.attempt for segment in way})
    return tuple(tuple(segment for segment in way if segment.attempt == number) for number in numbers)


def may_follow(state: JobState) -> tuple[JobState, ...]:
    """The states that can follow directly, in the order of the life cycle; none in a final state."""
    return successors(state)


def failure(events: Sequence[JobEvent]) -> str:
    """What other than its application ended a job, in the word of the sites' contract; empty: nothing."""
    ends = (event.details for event in events if event.new.ended and not (event.old and event.old.ended))
    return str(next(ends, {}).get("failure", ""))


def tell(events: Sequence[JobEvent]) -> list[str]:
    """The story in lines for people: seconds since the submission, what happened, where, and why."""
    if not events:
        return []
    return [_line(event, events[0].time) for event in events]


def _line(event: JobEvent, start: float) -> str:
    moved = "" if event.old is event.new else f" -> {event.new.value}"
    where = f" at {listed(event.resources)}" if event.resources else ""
    why = f": {event.reason}" if event.reason else ""
    wait = event.details.get(EXPECTED_WAIT)
    why += f" (a start within {wait:.0f} s was foreseen)" if isinstance(wait, int | float) else ""
    return f"{event.time - start:+10.3f} s  {event.type.value}{moved}{where}{why}"
