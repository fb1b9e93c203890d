"""Routes of sessions whose lines the broker carries; a job is its owner's alone (CB-UAM-04)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict

from broker_core.bookkeeping.store import Store
from broker_core.broker.api.dependencies import Owner, own_job, part
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.routes.interactive import MOST_WAIT
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.errors import BadRequest, Conflict
from broker_core.interactive.sessions.line_sessions import LineJob, LineSessions, LineViewer
from broker_core.jobs.states import JobState
from broker_core.launching.orders import STDERR, STDOUT

router = APIRouter(dependencies=[OWNER])
Desk = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
MOST_INPUT = 1 << 20
"""Bytes of input in one request."""
LinesPart = Annotated[LineSessions, part(LineSessions)]


class LinesRequest(BaseModel):
    """What a desk wants besides typing."""

    model_config = ConfigDict(extra="forbid")
    desk: Desk
    what: Literal["take", "bye", "eof", "signal"]
    name: str = ""
    """Of the signal."""


class LineJobs:
    """Finds jobs whose lines the broker carries."""

    def __init__(self, store: Store, sites: SiteDispatcher, orders: LaunchOrders) -> None:
        self._store = store
        self._sites = sites
        self._orders = orders

    async def find(self, owner: str, job: str) -> LineJob:
        """The caller's job with its site; raises NotFound, and Conflict where it is no such job."""
        record = await own_job(self._store, owner, job)
        site, ended = self._sites.site_of(record.ce), record.state.ended
        if site is None or not record.interactive or not (ended or record.state is JobState.RUNNING):
            raise Conflict("The job has no lines to carry now.", place=job)
        description = await self._orders.description(record)
        names = (description.stdout or STDOUT, description.stderr or STDERR)
        return LineJob(record, site, tuple(dict.fromkeys(names)))

    async def running(self, owner: str, job: str) -> LineJob:
        """The same of a job that runs; raises Conflict for one that has ended."""
        found = await self.find(owner, job)
        if found.record.state.ended:
            raise Conflict("The job has ended.", place=job)
        return found


JobsPart = Annotated[LineJobs, part(LineJobs)]


@router.get("/jobs/{job}/lines", response_class=Response)
async def look(
    job: str,
    jobs: JobsPart,
    lines: LinesPart,
    owner: Owner,
    desk: Desk,
    write: bool = False,
    begin: bool = False,
    out: Annotated[int, Query(ge=-1)] = -1,
    err: Annotated[int, Query(ge=-1)] = -1,
    wait: Annotated[float, Query(ge=0, le=MOST_WAIT)] = 0.0,
) -> Response:
    """Frames with what is new; `out`, `err`: first byte wanted of each stream; `wait`: seconds at most."""
    places = {stream: place for stream, place in ((1, out), (2, err)) if place >= 0}
    asked = LineViewer(desk, write, begin, places)
    frames = await lines.look(lambda: jobs.find(owner, job), asked, wait)
    return Response(frames, media_type="application/octet-stream")


@router.post("/jobs/{job}/lines")
async def typed(
    job: str,
    request: Request,
    jobs: JobsPart,
    lines: LinesPart,
    owner: Owner,
    desk: Desk,
    offset: Annotated[int, Query(ge=0)],
) -> dict[str, Any]:
    """Bytes for the program, the body, with the place of the first among all that this desk ever sent."""
    data = await request.body()
    if len(data) > MOST_INPUT:
        raise BadRequest(f"More than {MOST_INPUT} bytes at once.", place=job)
    await lines.typed(await jobs.running(owner, job), desk, offset, data)
    return {}


@router.post("/jobs/{job}/lines/wish")
async def wish(
    job: str, wish: LinesRequest, jobs: JobsPart, lines: LinesPart, owner: Owner
) -> dict[str, Any]:
    """Take the input, leave, end the input, or send a signal."""
    await lines.wish(await jobs.running(owner, job), wish.desk, wish.what, wish.name)
    return {}
