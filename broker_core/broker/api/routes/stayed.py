"""Routes of what a job made that stayed at its site: listed, brought later, or let go."""

from __future__ import annotations

from fastapi import APIRouter, Response

from broker_core.broker.api.dependencies import Owner, StorePart, own_job
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import json_response
from broker_core.broker.api.routes.output import OutputPart
from broker_core.wire.submission import LeftNames
from broker_core.wire.views import LeftView

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
