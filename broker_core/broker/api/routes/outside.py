"""Routes of the jobs that were submitted outside CrossDesk: only who may change the sites sees them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from broker_core.broker.api.dependencies import Owner, part
from broker_core.broker.api.permissions import administrators
from broker_core.broker.api.responses import json_response
from broker_core.broker.site_management.outside_jobs import OutsideWatch
from broker_core.wire.outside import OutsideDetail, OutsideJob, OutsideJobs, OutsideOutput

WatchPart = Annotated[OutsideWatch, part(OutsideWatch)]
SEES = administrators("see jobs that were submitted outside CrossDesk")
CANCELS = administrators("cancel jobs that were submitted outside CrossDesk")
router = APIRouter()


@router.get("/outside", response_model=OutsideJobs, dependencies=[SEES])
async def outside(
    watch: WatchPart, refresh: Annotated[bool, Query()] = True, wait: Annotated[bool, Query()] = False
) -> Response:
    """Jobs of the sites' accounts that this broker did not submit.

    `refresh`: sites that were not asked for half a minute are; `wait`: the answer comes when they have told.
    """
    return json_response(await watch.view(refresh=refresh, wait=wait))


@router.get("/outside/{site}/{id_}", response_model=OutsideDetail, dependencies=[SEES])
async def detail(site: str, id_: str, watch: WatchPart) -> Response:
    """What the batch system tells of one of them."""
    return json_response(await watch.detail(site, id_))


@router.get("/outside/{site}/{id_}/output", response_model=OutsideOutput, dependencies=[SEES])
async def output(site: str, id_: str, watch: WatchPart, error: Annotated[bool, Query()] = False) -> Response:
    """The end of what one of them wrote; `error`: to its standard error."""
    return json_response(await watch.output(site, id_, error=error))


@router.post("/outside/{site}/{id_}/cancel", response_model=OutsideJob, dependencies=[CANCELS])
async def cancel(site: str, id_: str, watch: WatchPart, owner: Owner) -> Response:
    """Have the batch system end one of them; who wanted it stands in its story."""
    return json_response(await watch.cancel(site, id_, owner))
