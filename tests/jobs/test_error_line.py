"""The row of a job has the last words of a failure, and none once it ended well; and what it used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.transitions import EventType as E
from tests.jobs.events import make

BEGUN = (E.SUBMITTED, E.ACCEPTED, E.MATCHED, E.SCHEDULED, E.RUNNING, E.REMATCHED)


def _after_a_lost_attempt() -> JobRecord:
    """A job whose first attempt said something before its resource failed it."""
    record = None
    for number, kind in enumerate(BEGUN, 1):
        event = make(record, kind, float(number), attempt=0 if number < 3 else 1)
        if kind is E.REMATCHED:
            event = replace(event, details={"error_line": "node lost"})
        record = apply(record, event)
    assert record is not None
    assert record.error_line == "node lost"
    return record


@pytest.mark.parametrize(
    ("kinds", "line"),
    [
        ((E.MATCHED, E.SCHEDULED, E.RUNNING, E.DONE), ""),
        ((E.CANCELED,), ""),
        ((E.ABORTED,), "node lost"),
    ],
)
def test_what_an_earlier_attempt_said_stays_only_of_a_job_that_failed(
    kinds: tuple[E, ...], line: str
) -> None:
    record = _after_a_lost_attempt()
    for kind in kinds:
        record = apply(record, make(record, kind, 10.0, attempt=2))
    assert record.error_line == line


def test_the_memory_is_that_of_the_last_attempt_that_tells_what_it_used() -> None:
    record = _after_a_lost_attempt()
    told: list[int | None] = []
    later = ((E.MATCHED, None), (E.REMATCHED, {"max_rss_bytes": 2e9}), (E.ABORTED, {"wall_s": 2.0}))
    for kind, usage in later:
        event = make(record, kind, 10.0, attempt=2)
        record = apply(record, replace(event, details={"usage": usage} if usage else {}))
        told.append(record.memory)
    assert told == [None, 2_000_000_000, None]
