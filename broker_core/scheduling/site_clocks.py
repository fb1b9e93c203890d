"""Times that sites tell, by clocks of nodes that may be behind this machine's (reliability case 7)."""

from __future__ import annotations

from dataclasses import replace

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.jobs.record import JobRecord

_WHOLE = 1.0
"""Nodes tell whole seconds."""


def start_of(record: JobRecord, told: float) -> float:
    """When a program started: not before its site was chosen, for that is recorded first.

    That the site has it may have been learned long after the start, if this broker was away.
    """
    began, had = max(told, record.matched or 0.0), record.scheduled or 0.0
    return had if 0.0 < had - began < _WHOLE else began


def with_own_time(record: JobRecord, message: AttemptEnded, now: float) -> AttemptEnded:
    """The end by the clock that recorded the start; how long it ran is the node's word. `now`: wall clock."""
    began, told, ended = record.started or 0.0, message.started, message.time
    if told is not None and told < began:
        ended = min(now, ended + began - told)
    ended = max(ended, began, record.matched or 0.0)
    return message if ended == message.time else replace(message, time=ended)
