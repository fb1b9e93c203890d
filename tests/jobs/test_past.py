"""What the events of a job say of its troubles."""

from __future__ import annotations

from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.failure_history import ChoiceFailure, FailureHistory, past_of
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType

E = EventType


def story(*kinds: tuple[EventType, dict[str, object]]) -> list[JobEvent]:
    return [
        JobEvent(
            "job",
            number,
            0.0,
            EventSource.SCHEDULER,
            kind,
            JobState.READY,
            JobState.READY,
            "ann",
            details=details,
        )
        for number, (kind, details) in enumerate(kinds, 1)
    ]


def test_a_job_without_troubles_has_no_past() -> None:
    assert past_of(story((E.SUBMITTED, {}), (E.ACCEPTED, {}), (E.MATCHED, {}))) == FailureHistory()


def test_troubles_are_read_as_they_were_written() -> None:
    tried = (ChoiceFailure(("a",), "full: 100 %"), ChoiceFailure(("b", "c: d"), "down"))
    past = FailureHistory(rounds=2, excluded=("a", "b"), tried=tried, died=("a",))
    events = story((E.MATCHED, {}), (E.REMATCHED, past.details()), (E.POSTPONED, {}))
    assert past_of(events) == past


def test_troubles_that_an_older_version_wrote_as_texts_are_read() -> None:
    events = story((E.REMATCHED, {"past": {"rounds": 1, "tried": ["a, b: full: 100 %", "c: down"]}}))
    tried = (ChoiceFailure(("a", "b"), "full: 100 %"), ChoiceFailure(("c",), "down"))
    assert past_of(events) == FailureHistory(rounds=1, tried=tried)


def test_the_second_try_counts_until_the_next_choice() -> None:
    assert past_of(story((E.MATCHED, {}), (E.RETRIED, {}), (E.SCHEDULED, {}))).retried
    assert not past_of(story((E.RETRIED, {}), (E.REMATCHED, {}), (E.MATCHED, {}))).retried


def test_deaths_of_the_broker_are_counted_in_a_row() -> None:
    died, late = (E.BROKER_DIED, {}), (E.MESSAGE_LATE, {})
    assert past_of(story((E.MATCHED, {}), died, late, died)).deaths == 2
    assert past_of(story((E.MATCHED, {}), died, (E.SCHEDULED, {}))).deaths == 0
