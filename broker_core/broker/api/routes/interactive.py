"""Routes of interactive jobs: the desks of a user, and how a desk reaches the agent of a job."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from broker_core.broker.api.dependencies import Owner, SitesPart, StorePart, own_job, part
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import json_response
from broker_core.interactive.sessions.key_distribution import KeyDistribution
from broker_core.interactive.sessions.sessions import LONG, SHORT, Sessions
from broker_core.wire.interactive import ContactState, DeskView, NewDesk, SessionContact

SessionsPart = Annotated[Sessions, part(Sessions)]
KeysPart = Annotated[KeyDistribution, part(KeyDistribution)]
router = APIRouter(dependencies=[OWNER])
MOST_WAIT = 20.0
TOLD = 2.0
"""Seconds that an answer waits until the agent knows the desk that was just registered."""


@router.get("/desks", response_model=list[DeskView])
async def desks(sessions: SessionsPart, owner: Owner) -> Response:
    """Desks of the caller that agents let in."""
    return json_response([one.model_dump() for one in await sessions.desks.of(owner)])


@router.post("/desks", response_model=list[DeskView])
async def add_desk(desk: NewDesk, sessions: SessionsPart, keys: KeysPart, owner: Owner) -> Response:
    """Register a desk, or renew what is known of it; jobs that run are told."""
    found = await sessions.desks.add(owner, desk)
    if found.changed:
        keys.changed(owner)
    return json_response([one.model_dump() for one in found.desks])


@router.delete("/desks", response_model=list[DeskView])
async def remove_desk(sessions: SessionsPart, keys: KeysPart, owner: Owner, fingerprint: str) -> Response:
    """Forget a desk; jobs that run send it away."""
    left = await sessions.desks.remove(owner, fingerprint)
    keys.changed(owner)
    return json_response([one.model_dump() for one in left])


@router.post("/jobs/{job}/agent", status_code=204)
async def bring_agent(
    job: str, store: StorePart, sites: SitesPart, sessions: SessionsPart, keys: KeysPart, owner: Owner
) -> Response:
    """Have an agent beside the program of a running batch job, so that desks reach it."""
    record = await own_job(store, owner, job)
    if not await sessions.bring(record, sites.site_of(record.ce)):
        # It may be there from before a restart, and not know the desks of now.
        keys.changed(owner)
    return Response(status_code=204)


@router.get("/jobs/{job}/session", response_model=SessionContact)
async def session(
    job: str,
    store: StorePart,
    sites: SitesPart,
    sessions: SessionsPart,
    keys: KeysPart,
    owner: Owner,
    wait: Annotated[float, Query(ge=0, le=MOST_WAIT)] = 0.0,
) -> Response:
    """How the job's agent is reached; `wait`: seconds to wait for it at most."""
    loop = asyncio.get_running_loop()
    began, pause = loop.time(), SHORT
    deadline = began + wait
    while True:
        record = await own_job(store, owner, job)
        found = await sessions.contact(record, sites.site_of(record.ce))
        if found.state is ContactState.THERE:
            await keys.settled(job, TOLD)
        if found.state is not ContactState.WAITING or loop.time() + pause > deadline:
            return json_response(found.model_dump())
        await asyncio.sleep(pause)
        # Somebody may be looking on: an agent is not found later than a tenth after its time.
        pause = min(SHORT + (loop.time() - began) / 10, LONG)
