"""Jobs that are ready for their site."""

from __future__ import annotations

from typing import Any

from broker_core.jobs.placement import shared
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState


def ready(job: str, attempt: int = 1, **more: Any) -> JobRecord:
    fixed = {"owner": "me", "name": "n", "structure": "Normal", "interactive": False, "cpus": 1}
    there = shared(("far:22/jobmanager-slurm-q",), 1)
    state = {"state": JobState.READY, "description": "", "placements": there}
    return JobRecord(id=job, attempt=attempt, **(fixed | state | more))
