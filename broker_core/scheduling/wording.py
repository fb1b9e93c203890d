"""What sites say and what follows from it, in words for the story of a job."""

from __future__ import annotations

import signal as signals
from typing import Any

from broker_core.jobs.attempt_events import (
    AttemptEnded,
    AttemptRefused,
    AttemptReport,
    AttemptRuns,
    AttemptStarted,
)
from broker_core.jobs.record import JobRecord
from broker_core.jobs.site_names import site_names
from broker_core.jobs.states import JobState
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.selection import Selection

IN_QUEUE = "In the site's queue"
"""Reason of a job that waits there for its turn."""


def waits_at_site(record: JobRecord, *, silent: bool = False) -> str:
    """What a job that was sent to a site waits for, without the last full stop; empty: for nothing.

    `silent`: the site is not connected.
    """
    if record.state.active and record.canceling is not None:
        return f"Waits for {record.sites} to confirm that every process of it is gone"
    if record.state is JobState.READY and silent:
        return (
            f"Waits until {record.sites} is connected again: whether it has the job already is not known, so "
            "nothing is sent elsewhere"
        )
    if record.state is JobState.READY:
        return f"Waits for {record.sites} to accept it"
    if record.state is JobState.SCHEDULED:
        turn = f"Waits in the queue of {record.sites} for its turn"
        return turn if record.reason == IN_QUEUE else f"{turn}. {record.reason}"
    return ""


def in_words(message: AttemptReport) -> str:
    """A site's message for a record that it came late."""
    which = f"attempt {message.component.attempt}"
    if isinstance(message, AttemptStarted):
        return f"Late message: {which} has started"
    if isinstance(message, AttemptRuns):
        return f"Late message: {which} runs by the site's word"
    if isinstance(message, AttemptEnded):
        code = f", exit code {message.exit_code}" if message.exit_code is not None else ""
        return f"Late message: {which} has ended{code}"
    if isinstance(message, AttemptRefused):
        return f"Late message: {which} was refused: {message.reason}"
    return f"Late message: {which} was accepted"


def abnormal(job: LiveJob, message: AttemptEnded) -> str:
    """Why an application that ran has no result (CB-ERR-5)."""
    if message.reason:
        return message.reason
    if message.signal is not None:
        return f"The application was ended by {_signal_name(message.signal)} at {job.record.sites}"
    why = message.failure or "no exit code is known"
    return f"The application ended abnormally at {job.record.sites}: {why}"


def end_details(message: AttemptEnded) -> dict[str, Any]:
    """What is kept of an end besides its reason."""
    facts: dict[str, Any] = {} if message.exit_code is None else {"exit_code": message.exit_code}
    if message.signal is not None:
        facts["signal"] = message.signal
    if message.failure:
        facts["failure"] = message.failure
    if message.usage:
        facts["usage"] = message.usage
    if message.error_line:
        facts["error_line"] = message.error_line
    return facts


def chosen(choice: Selection) -> str:
    """Where a job goes."""
    where = site_names(choice.ces)
    return f"Chosen: {where}" + (f", the first of {choice.of}" if choice.of > 1 else "")


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signals.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
