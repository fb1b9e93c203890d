"""Whatever is said to a job in whatever order, it moves only along the table (CB-LIFE-02)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from broker_core.bookkeeping.replay import Replay
from broker_core.errors import StoreDamaged
from broker_core.jobs.counters import STAGES, counts_of
from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.states import FINAL, JobState
from broker_core.jobs.story import attempts, segments, spent
from broker_core.jobs.transitions import (
    TRANSITIONS,
    EventType,
    IllegalTransition,
    allowed,
    next_state,
    successors,
)
from tests.jobs.events import make

CYCLE = list(JobState)


class LifeOfAJob(RuleBasedStateMachine):
    """Any messages, at any times of a clock that jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.record: JobRecord | None = None
        self.events: list[JobEvent] = []
        self.reached: set[JobState] = set()

    @rule(
        kind=some.sampled_from(EventType),
        time=some.floats(0, 1e10),
        attempt=some.integers(0, 5),
    )
    def say(self, kind: EventType, time: float, attempt: int) -> None:
        before = self.record
        old = before.state if before else None
        if not allowed(old, kind):
            with pytest.raises(IllegalTransition):
                make(before, kind, time, attempt)
            return
        event = make(before, kind, time, attempt)
        self.record = apply(before, event)
        self.events.append(event)
        self.reached.add(self.record.state)
        assert self.record.state is old or old is None or self.record.state in successors(old)
        assert not (old in FINAL and self.record.state is not old)

    @precondition(lambda self: self.record is not None)
    @rule(kind=some.sampled_from([EventType.MESSAGE_LATE]), time=some.floats(0, 1e10))
    def say_late(self, kind: EventType, time: float) -> None:
        before = self.record
        assert before is not None
        event = make(before, kind, time)
        self.record = apply(before, event)
        self.events.append(event)
        numbers = ("seq", "position")
        for name in JobRecord.__slots__:
            assert name in numbers or getattr(self.record, name) == getattr(before, name)

    @invariant()
    def replay_gives_the_row(self) -> None:
        replay = Replay()
        for event in self.events:
            replay.take(event)
        purged = any(event.type is EventType.PURGED for event in self.events)
        assert replay.rows == ({} if purged or self.record is None else {"job": self.record})

    @invariant()
    def the_story_ends_in_the_state_of_the_row(self) -> None:
        way = segments(self.events)
        assert (way[-1].state if way else None) is (self.record.state if self.record else None)
        assert {segment.state for segment in way} == self.reached
        assert all(one.left is not None for one in way[:-1])
        assert all(part.seconds >= 0 for part in spent(self.events, 5e9))
        assert sum(len(one) for one in attempts(self.events)) <= len(way)

    @invariant()
    def counters_are_those_of_the_states_reached(self) -> None:
        if self.record is None:
            return
        counts = dict(zip(STAGES, counts_of(self.record), strict=True))
        assert counts["submitted"] == 1
        assert bool(counts["accepted"]) == (JobState.WAITING in self.reached)
        assert bool(counts["matched"]) == (JobState.READY in self.reached)
        assert bool(counts["run"]) == (JobState.RUNNING in self.reached)
        assert bool(counts["completed"]) == (JobState.DONE in self.reached)
        assert bool(counts["cleared"]) == (JobState.CLEARED in self.reached)


TestLifeOfAJob = LifeOfAJob.TestCase
TestLifeOfAJob.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def test_any_life_in_the_long_form(soak: bool) -> None:
    state = {"max_examples": 5000 if soak else 20, "stateful_step_count": 60, "deadline": None}
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(LifeOfAJob, settings=settings(**state))
    assert len(TRANSITIONS) > 0


@given(some.sampled_from([None, *JobState]), some.sampled_from(EventType))
def test_the_table_answers_every_event_in_every_state(state: JobState | None, kind: EventType) -> None:
    if allowed(state, kind):
        assert next_state(state, kind) is TRANSITIONS[state, kind]
    else:
        with pytest.raises(IllegalTransition, match=kind.value):
            next_state(state, kind)


@pytest.mark.parametrize("state", JobState)
def test_a_late_message_is_legal_everywhere_and_moves_nothing(state: JobState) -> None:
    assert next_state(state, EventType.MESSAGE_LATE) is state


@pytest.mark.parametrize("state", JobState)
def test_every_state_is_reached_from_the_start(state: JobState) -> None:
    reached = {JobState.SUBMITTED}
    for _ in JobState:
        reached |= {after for before in list(reached) for after in successors(before)}
    assert state in reached


@pytest.mark.parametrize("state", JobState)
def test_final_states_are_left_by_nothing_and_others_by_something(state: JobState) -> None:
    assert bool(successors(state)) is not state.final
    assert state.ended is (state.final or state is JobState.DONE)
    assert state.active is not state.ended


@pytest.mark.parametrize("state", [state for state in JobState if state.active])
def test_a_job_can_be_canceled_until_it_has_ended(state: JobState) -> None:
    assert next_state(state, EventType.CANCELED) is JobState.CANCELED


def test_only_rematching_and_an_exhausted_list_go_back() -> None:
    back = {
        kind
        for (old, kind), new in TRANSITIONS.items()
        if old is not None and CYCLE.index(new) < CYCLE.index(old)
    }
    assert back == {EventType.REMATCHED, EventType.LIST_EXHAUSTED, EventType.RETRIED}


def test_replay_names_an_event_that_cannot_follow() -> None:
    replay = Replay()
    submitted = make(None, EventType.SUBMITTED, 1.0)
    replay.take(submitted)
    record = apply(None, submitted)
    illegal = make(record, EventType.ACCEPTED, 2.0)
    wrong = JobEvent(**{name: getattr(illegal, name) for name in JobEvent.__slots__} | {"new": JobState.DONE})
    with pytest.raises(StoreDamaged) as told:
        replay.take(wrong)
    assert told.value.place == "event at position 2, job job"
    with pytest.raises(StoreDamaged, match="number 1 where 2 is due"):
        replay.take(submitted)
