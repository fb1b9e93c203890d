"""What the routes take from a request: the broker's parts, the owner, and jobs that are the owner's.

The dependencies are coroutines because the framework would run plain functions in a thread each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from fastapi import Depends, Request

from broker_core.bookkeeping.store import Store
from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.stream import Stream
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.broker.submission.submissions import Submissions
from broker_core.errors import NotFound
from broker_core.jobs.record import JobRecord
from broker_core.settings.settings import Settings

Parts = Mapping[type, object]
"""The parts of a broker by their types."""


def part(kind: type) -> Any:
    """Dependency of a route: the running broker's part of this type."""

    async def find(request: Request) -> object:
        return cast(Parts, request.app.state.parts)[kind]

    return Depends(find)


async def owner_of(request: Request) -> str:
    """The user who asks, by the kernel's word (CB-UAM-03)."""
    return cast(str, request.state.owner)


Owner = Annotated[str, Depends(owner_of)]
EnginePart = Annotated[Engine, part(Engine)]
RegistryPart = Annotated[SiteRegistry, part(SiteRegistry)]
SettingsPart = Annotated[Settings, part(Settings)]
SitesPart = Annotated[SiteDispatcher, part(SiteDispatcher)]
StorePart = Annotated[Store, part(Store)]
StreamPart = Annotated[Stream, part(Stream)]
SubmissionsPart = Annotated[Submissions, part(Submissions)]


async def own_job(store: Store, owner: str, job: str) -> JobRecord:
    """The record of a job; raises NotFound also where it is another user's (CB-UAM-04)."""
    record = await store.job(job)
    if record is None or record.owner != owner:
        raise NotFound("There is no such job.", place=job, remedy="`crossdesk job list` shows yours.")
    return record


async def own_jobs(store: Store, owner: str, jobs: Sequence[str]) -> dict[str, JobRecord]:
    """Records of those of the jobs that exist and are the owner's."""
    return {record.id: record for record in await store.jobs(jobs) if record.owner == owner}
