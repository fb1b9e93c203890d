"""How often a job that runs is asked for what it published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_core.jobs.states import JobState

_LEAST_MS, _MOST_MS, _QUIET_MS = 33, 5000, 700
_SHARE = 3
"""A pause is as many times as long as the answer took: a site far away is asked seldom."""


def still_runs(row: Mapping[str, Any] | None) -> bool:
    """True while more may come."""
    return row is not None and JobState(row["state"]) is JobState.RUNNING


def follow_pause(took: float, *, quiet: bool) -> int:
    """Milliseconds until the next question; `took`: seconds of the last one, `quiet`: nothing came yet."""
    return min(_MOST_MS, max(_QUIET_MS if quiet else _LEAST_MS, round(took * 1000 * _SHARE)))
