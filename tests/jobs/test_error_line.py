"""The row of a job has the last words of a failure, and none once it ended well."""

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
