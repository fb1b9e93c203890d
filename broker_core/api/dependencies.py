"""What the routes take from a request: the broker's parts, the owner, and jobs that are the owner's.

The dependencies are coroutines because the framework would run plain functions in a thread each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, cast

from fastapi import Depends, Request

from broker_core.api.services import Services
from broker_core.errors import NotFound
from broker_core.jobs.record import JobRecord


async def services_of(request: Request) -> Services:
    """The parts of the running broker."""
    return cast(Services, request.app.state.services)


async def owner_of(request: Request) -> str:
    """The user who asks, by the kernel's word (CB-UAM-03)."""
    return cast(str, request.state.owner)


Parts = Annotated[Services, Depends(services_of)]
Owner = Annotated[str, Depends(owner_of)]


async def own_job(services: Services, owner: str, job: str) -> JobRecord:
    """The record of a job; raises NotFound also where it is another user's (CB-UAM-04)."""
    record = await services.store.job(job)
    if record is None or record.owner != owner:
        raise NotFound("There is no such job.", place=job, remedy="`crossdesk job list` shows yours.")
    return record


async def own_jobs(services: Services, owner: str, jobs: Sequence[str]) -> dict[str, JobRecord]:
    """Records of those of the jobs that exist and are the owner's."""
    return {record.id: record for record in await services.store.jobs(jobs) if record.owner == owner}
