"""Random histories of jobs, along the table of their life, with how each of them came out."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

from hypothesis import strategies as some

from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.transitions import TRANSITIONS
from broker_core.jobs.transitions import EventType as E

BATCH = "b" * 22
"""The batch of those jobs that have one."""
RUNS = 4
"""Runs of one job, at most."""
_FIXED = {"structure": "Normal", "interactive": False, "cpus": 1, "description": "ab"}
_WHERE = ("here:1/jobmanager-fork-all",)
_ONWARD = (E.ACCEPTED, E.MATCHED, E.SCHEDULED, E.RUNNING, E.DONE, E.CLEARED)
"""What leads a job to its end: as likely as all other steps together, so that many jobs come to one."""
_STEPS = {
    state: [kind for before, kind in TRANSITIONS if before == state and kind is not E.PURGED]
    for state, _ in TRANSITIONS
}
_LEAVES_AN_END = frozenset({E.RETRIED, E.REMATCHED, E.ABORTED, E.DONE})


@some.composite
def chains(draw: some.DrawFn) -> list[list[JobEvent]]:
    """The histories of a job and of its reruns, each made when the one before had ended."""
    batch = draw(some.sampled_from(["", BATCH]))
    runs = [draw(histories(batch))]
    while runs[-1][-1].new.ended and len(runs) < RUNS and draw(some.booleans()):
        runs.append(draw(histories(batch)))
    return runs


@some.composite
def histories(draw: some.DrawFn, batch: str) -> list[JobEvent]:
    """The events of one run of a job, from its submission on; purged jobs are no rows any more."""
    events = [_event(None, E.SUBMITTED, _FIXED | {"name": "scan", "batch": batch})]
    row = apply(None, events[0])
    for _ in range(draw(some.integers(0, 16))):
        steps = _STEPS[row.state]
        onward = [kind for kind in steps if kind in _ONWARD]
        kind = draw(some.sampled_from([*onward * len(steps), *steps]))
        details = draw(_ends(kind)) if kind in _LEAVES_AN_END else {}
        events.append(_event(row, kind, details))
        row = apply(row, events[-1])
    return events


def _ends(kind: E) -> some.SearchStrategy[dict[str, Any]]:
    code = some.fixed_dictionaries({"exit_code": some.sampled_from([0, 1, 3, 127])})
    if kind is E.DONE:
        return code
    signal = some.fixed_dictionaries({"signal": some.sampled_from([9, 15])})
    return some.one_of(some.just({}), code, signal)


def _event(row: JobRecord | None, kind: E, details: dict[str, Any]) -> JobEvent:
    state = row.state if row else None
    return JobEvent(
        job="job",
        seq=row.seq + 1 if row else 1,
        time=time.time(),
        source=EventSource.AL,
        type=kind,
        old=state,
        new=TRANSITIONS[state, kind],
        owner="ann",
        attempt=1 if kind is E.MATCHED else 0,
        resources=_WHERE if kind is E.MATCHED else (),
        reason=kind.value,
        details=details,
        position=row.position + 1 if row else 1,
    )


def records_of(jobs: list[list[list[JobEvent]]]) -> list[list[JobRecord]]:
    """The rows of jobs and of their reruns, with ids of their own, each linked to the one before."""
    found = [
        [record_of(events, f"j{number}-{run}") for run, events in enumerate(runs)]
        for number, runs in enumerate(jobs)
    ]
    for runs in found:
        for before, after in pairwise(runs):
            after.rerun_of = before.id  # type: ignore[misc]
    return found


def record_of(events: list[JobEvent], name: str) -> JobRecord:
    """The row of a history, for a job of that id."""
    row = None
    for event in events:
        row = apply(row, event)
    assert row is not None
    row.id = name  # type: ignore[misc]
    return row


def came_out(events: list[JobEvent]) -> str:
    """`done`, `failed`, `canceled`, or `active` while none of its events ended the job."""
    for event in reversed(events):
        if event.type is E.DONE:
            return "failed" if event.details["exit_code"] else "done"
        if event.type in (E.ABORTED, E.REFUSED):
            return "failed"
        if event.type is E.CANCELED:
            return "canceled"
        if event.new.active:
            break
    return "active"
