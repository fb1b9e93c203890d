"""A job's story tells where its time went and what comes next (CB-UI-03)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.jobs.counters import KINDS, LONGER, NEVER, count, kind_order, wait_bound
from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.states import JobState
from broker_core.jobs.story import StoryStep, attempts, failure, segments, spent, tell
from broker_core.jobs.transitions import EventType as E
from tests.jobs.events import make


def story(*steps: tuple[E, float, int]) -> tuple[list[JobEvent], JobRecord]:
    events: list[JobEvent] = []
    record: JobRecord | None = None
    for kind, time, attempt in steps:
        events.append(make(record, kind, time, attempt))
        record = apply(record, events[-1])
    assert record is not None
    return events, record


TWICE = (
    (E.SUBMITTED, 100.0, 0),
    (E.ACCEPTED, 101.0, 0),
    (E.POSTPONED, 102.0, 0),
    (E.MATCHED, 104.0, 1),
    (E.CHOICE_FAILED, 105.0, 1),
    (E.SCHEDULED, 106.0, 1),
    (E.RUNNING, 110.0, 1),
    (E.REMATCHED, 120.0, 1),
    (E.MATCHED, 121.0, 2),
    (E.SCHEDULED, 122.0, 2),
    (E.MESSAGE_LATE, 122.5, 1),
    (E.RUNNING, 123.0, 2),
    (E.DONE, 153.0, 2),
)


def test_time_is_split_into_the_four_steps_and_running() -> None:
    events, _ = story(*TWICE)
    told = {part.step: part.seconds for part in spent(events, 1000.0)}
    assert told == {
        StoryStep.PREPARING: 1.0,
        StoryStep.SELECTING: 4.0,
        StoryStep.SUBMITTING: 3.0,
        StoryStep.STARTING: 5.0,
        StoryStep.RUNNING: 40.0,
    }
    assert sum(told.values()) == events[-1].time - events[0].time
    assert not any(part.open for part in spent(events, 1000.0))


def test_the_step_a_job_is_in_goes_on_until_now() -> None:
    events, _ = story(*TWICE[:4])
    last = spent(events, 114.0)[-1]
    assert (last.step, last.seconds, last.open) == (StoryStep.SUBMITTING, 10.0, True)


def test_the_way_shows_every_state_with_its_attempt_and_place() -> None:
    events, record = story(*TWICE)
    way = segments(events)
    assert [(one.state.value, one.attempt) for one in way] == [
        ("Submitted", 0),
        ("Waiting", 0),
        ("Ready", 1),
        ("Ready", 1),
        ("Scheduled", 1),
        ("Running", 1),
        ("Waiting", 1),
        ("Ready", 2),
        ("Scheduled", 2),
        ("Running", 2),
        ("Done", 2),
    ]
    assert way[2].resources == ("ce",)
    assert way[-1].left is None
    assert [len(one) for one in attempts(events)] == [4, 4]
    assert record.state is JobState.DONE


def test_a_clock_set_back_gives_no_negative_time() -> None:
    events, _ = story((E.SUBMITTED, 100.0, 0), (E.ACCEPTED, 50.0, 0), (E.MATCHED, 40.0, 1))
    assert [part.seconds for part in spent(events, 0.0)] == [0.0, 0.0, 0.0]


def test_the_story_is_told_in_lines() -> None:
    events, _ = story(*TWICE[:4])
    assert tell(events)[-1] == "    +4.000 s  job.matched -> Ready at ce: MATCHED"
    assert tell([]) == []
    assert segments([]) == ()
    assert spent([], 1.0) == ()


def test_the_failure_that_ended_a_job_is_that_of_its_end_and_not_of_its_words() -> None:
    events, _ = story(*TWICE[:7], (E.ABORTED, 120.0, 1), (E.MESSAGE_LATE, 121.0, 1))
    assert (failure(events), failure([])) == ("", "")
    events[-2] = replace(events[-2], reason="No desk came back", details={"failure": "agent"})
    events[-1] = replace(events[-1], details={"failure": "no-desk"})
    assert failure(events) == "agent"
    assert failure(events[:-2]) == ""


@pytest.mark.parametrize(
    ("submitted", "started", "bound"),
    [
        (0, None, NEVER),
        (0, 0.5, 1),
        (0, 1, 1),
        (0, 1.01, 5),
        (0, 86_400, 86_400),
        (0, 1e6, LONGER),
        (9, 3, 1),
    ],
)
def test_waits_fall_into_classes(submitted: float, started: float | None, bound: int) -> None:
    assert wait_bound(submitted, started) == bound


def test_counters_are_kept_by_kind_in_the_order_shown() -> None:
    _, done = story(*TWICE)
    _, waiting = story(*TWICE[:2])
    assert count([waiting, done, waiting]) == {
        "Normal batch": {
            "submitted": 3,
            "accepted": 3,
            "matched": 1,
            "run": 1,
            "completed": 1,
            "cleared": 0,
        }
    }
    assert sorted(["Strange batch", *reversed(KINDS)], key=kind_order) == [*KINDS, "Strange batch"]
