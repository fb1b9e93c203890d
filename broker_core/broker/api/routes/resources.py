"""Routes of the Resource Cache: its resources, and the sources that feed it (CB-UI-09)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from broker_core.broker.api.dependencies import EnginePart, part
from broker_core.broker.api.permissions import EVERYBODY
from broker_core.broker.api.responses import JSON, json_response
from broker_core.broker.api.views.resource_detail import resource_detail
from broker_core.broker.api.views.resources import resources_page, tags_of
from broker_core.information.runner import Updaters
from broker_core.system.clock import now
from broker_core.wire.resources import ResourceDetail, ResourcesPage, SourceView, TagView
from broker_core.wire.submission import Wire

UpdatersPart = Annotated[Updaters, part(Updaters)]
router = APIRouter(dependencies=[EVERYBODY])


class SourceNames(Wire):
    """Sources to be asked now; empty: all."""

    names: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=1000)


@router.get("/resources", response_model=ResourcesPage)
async def resources(
    engine: EnginePart,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=20_000)] = 1000,
) -> Response:
    """A page of all known resources by columns, ordered by computing element."""
    page = await resources_page(engine.scheduler.cache, offset, limit, now())
    return Response(page, media_type=JSON)


@router.get("/tags", response_model=list[TagView])
async def tags(engine: EnginePart) -> Response:
    """Run-time tags by name, with the sites that show them; no more than 10,000."""
    return json_response([view.model_dump() for view in tags_of(engine.scheduler.cache, now())])


@router.get("/resources/{ce:path}", response_model=ResourceDetail)
async def resource(ce: str, engine: EnginePart) -> Response:
    """Everything known of one computing element, named by its id or its site in any case; of a site with
    several of them the first, with the names of all."""
    return json_response(resource_detail(engine.scheduler.cache, ce, now()))


@router.get("/sources", response_model=list[SourceView])
async def sources(updaters: UpdatersPart) -> Response:
    """Where knowledge of resources comes from, and how each source does."""
    return json_response([view.model_dump() for view in updaters.views()])


@router.post("/sources/refresh", response_model=list[SourceView])
async def refresh(wanted: SourceNames, updaters: UpdatersPart) -> Response:
    """Ask sources now; answered when they have, or have failed."""
    views = await updaters.refresh(wanted.names)
    return json_response([view.model_dump() for view in views])
