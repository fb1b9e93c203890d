"""Routes of what a job made that stayed at its site: listed, brought later, or let go."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response

from broker_core.broker.api.dependencies import Owner, StorePart, own_job, own_jobs, part
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import json_response
from broker_core.broker.api.routes.output import OutputPart
from broker_core.broker.site_management.retention import Retention
from broker_core.wire.submission import LeftNames
from broker_core.wire.views import ExpiringView, LeftView

RetentionPart = Annotated[Retention, part(Retention)]
router = APIRouter(dependencies=[OWNER])


@router.get("/jobs/{job}/stayed", response_model=LeftView)
async def stayed(job: str, store: StorePart, output: OutputPart, owner: Owner) -> Response:
    """What of an ended job is at its site alone."""
    left = await output.left(await own_job(store, owner, job))
    return json_response(left.model_dump())


@router.post("/jobs/{job}/stayed/fetch", response_model=LeftView)
async def fetch(job: str, asked: LeftNames, store: StorePart, output: OutputPart, owner: Owner) -> Response:
    """Bring files to the broker, where they count as output; answers what is left."""
    left = await output.fetch_left(await own_job(store, owner, job), asked.names)
    return json_response(left.model_dump())


@router.post("/jobs/{job}/stayed/forget", response_model=LeftView)
async def forget(job: str, asked: LeftNames, store: StorePart, output: OutputPart, owner: Owner) -> Response:
    """Have files removed at the site, which cannot be undone; answers what is left."""
    left = await output.forget_left(await own_job(store, owner, job), asked.names)
    return json_response(left.model_dump())


@router.get("/expiring", response_model=list[ExpiringView])
async def expiring(store: StorePart, retention: RetentionPart, owner: Owner) -> Response:
    """What of the caller's jobs is removed at sites within a day, the first to go first."""
    found = await retention.expiring()
    mine = await own_jobs(store, owner, [one.job for one in found])
    views = [
        ExpiringView(job=one.job, name=record.name, site=record.sites, size=left.size, goes=left.goes or 0.0)
        for one, left in found.items()
        if (record := mine.get(one.job)) is not None
    ]
    return json_response([view.model_dump() for view in sorted(views, key=lambda view: view.goes)])
