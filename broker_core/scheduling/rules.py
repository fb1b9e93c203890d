"""The figures by which the Scheduling Agent decides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Intervals are seconds of the monotonic clock; defaults as in the table of configuration values."""

    rematch_interval: float = 120.0
    """Waiting jobs are matched again at the latest after this (CB-SCH-06)."""
    infeasible_timeout: float = 3600.0
    """A job that no known resource can ever run is aborted after this (CB-SCH-12)."""
    max_rematch: int = 5
    """Rounds of matching after failures at sites (CB-ERR-6)."""
    temp_bad_period: float = 600.0
    """Longest time for which a failing resource is left alone (CB-ERR-1, CB-ERR-2)."""
    first_bad_period: float = 5.0
    """Time after its first failure; every further failure makes it four times as long."""
    tell_after: float = 1.0
    """The head of the queue is told why it waits once it has waited this long for the same reason."""
    cancel_again: float = 10.0
    """A cancel that no site has confirmed is asked again after this."""
    queue_ahead: float = 0.0
    """Processors' worth of jobs, as a share of all of them, that may wait in the queue of a resource which
    is the only one for them: the next job starts there without a way to the broker and back."""
    slice_jobs: int = 200
    """Jobs taken over, or looked at, in one call of the reactor; the rest follows at once."""
