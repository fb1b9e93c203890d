"""The judge of a crash test: reads the event log and the files that the jobs left, trusts nobody's word.

Every job of these tests appends one line to a file of its own when it starts and one when it ends; what
is counted here are those side effects.
"""

from __future__ import annotations

import os
import socket
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from broker_core.bookkeeping.store import Store
from broker_core.jobs.events import JobEvent
from broker_core.jobs.record import JobRecord, apply
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType, next_state
from broker_core.system.paths import places

RESULTS = frozenset({EventType.DONE, EventType.ABORTED, EventType.CANCELED, EventType.REFUSED})
"""Events that count as the one result of a job."""
_MOST_OF_ONE = 3000
"""Characters of a traceback that are shown."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a state directory and its side effects say."""

    faults: list[str]
    states: Counter[str]
    attempts: int
    """Attempts that were begun in all."""


def job_text(effects: Path, seconds: float = 0.0, gate: Path | None = None) -> str:
    """A description of a job that leaves its traces below `effects`, under the value of its parameter.

    It takes `seconds`, and then as long as `gate` is missing.
    """
    trace = f"{effects}/_PARAM_"
    waits = f"until [ -e {gate} ]; do sleep 0.1; done; " if gate else ""
    script = f"echo start >> {trace}; sleep {seconds:g}; {waits}echo end >> {trace}; echo output _PARAM_"
    return (
        'Executable = "/bin/sh"; StdOutput = "out"; OutputSandbox = {"out"};\n'
        f"Arguments = \"-c '{script}'\";"
    )


async def judge(state_dir: Path, accepted: dict[str, str], effects: Path) -> Verdict:
    """Judge a state directory whose broker is dead; `accepted` is job id to parameter value."""
    store = Store.open(places(state_dir).store, host=socket.gethostname(), pid=os.getpid())
    try:
        faults: list[str] = []
        states: Counter[str] = Counter()
        attempts = 0
        for job, value in accepted.items():
            record = await store.job(job)
            if record is None:
                faults.append(f"{job} was accepted and is lost")
                continue
            story = await store.events_of(job)
            states[record.state.value] += 1
            attempts += record.attempt
            found = _story_faults(record, story) + _effect_faults(record, effects / value)
            faults += [f"{fault}; {_told(story)}" for fault in found]
        faults += await _strangers(store, accepted)
        faults += _errors_of_the_program(places(state_dir).log)
        return Verdict(faults, states, attempts)
    finally:
        store.close()


def _errors_of_the_program(log: Path) -> list[str]:
    """What a broker logged with a traceback: that it was killed is no reason for one."""
    texts = [file.read_text("utf-8", "replace") for file in log.parent.glob(f"{log.name}*")]
    parts = [text.split("Traceback (most recent call last):\n")[1:] for text in texts]
    return [f"an error in the broker: {part[:_MOST_OF_ONE]}" for found in parts for part in found]


def _told(story: list[JobEvent]) -> str:
    return " | ".join(f"{event.attempt} {event.type} {event.reason}" for event in story)


def _story_faults(record: JobRecord, story: list[JobEvent]) -> list[str]:
    faults = []
    replayed: JobRecord | None = None
    state: JobState | None = None
    for number, event in enumerate(story, 1):
        if event.seq != number:
            faults.append(f"{record.id}: event {number} has the number {event.seq}")
        if event.old is not state or event.new is not next_state(state, event.type):
            faults.append(f"{record.id}: {event.type} is no step from {state}")
        state = event.new
        replayed = apply(replayed, event)
    if replayed != record:
        faults.append(f"{record.id}: the row is not what its events add up to")
    results = [event.type for event in story if event.type in RESULTS]
    if len(results) != 1:
        faults.append(f"{record.id} is {record.state} and has {len(results)} results: {results}")
    return faults


def _effect_faults(record: JobRecord, trace: Path) -> list[str]:
    lines = trace.read_text().splitlines() if trace.exists() else []
    starts = sum(line.startswith("start") for line in lines)
    ends = lines.count("end")
    if starts > 1:
        return [f"{record.id} was started {starts} times"]
    if record.state is JobState.DONE and ends != 1:
        return [f"{record.id} is Done, but its end was seen {ends} times"]
    return []


async def _strangers(store: Store, accepted: dict[str, str]) -> list[str]:
    """Every job in the store was acknowledged: a lost answer is asked for again with its key."""
    page = await store.jobs_page(limit=20_000, columns=["id"])
    return [f"{job} is in the store but nobody knows it" for job in page.columns["id"] if job not in accepted]
