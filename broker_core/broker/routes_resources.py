"""Routes of the Resource Cache: its resources, and the sources that feed it (CB-UI-09)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from broker_core.broker.answers import JSON, json_response
from broker_core.broker.asked import Parts
from broker_core.broker.clock import now
from broker_core.broker.resource_detail import resource_detail
from broker_core.broker.resource_views import resources_page
from broker_core.broker.services import Services
from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SourceHeard, facts_of
from broker_core.resources.record import Resource
from broker_core.wire.resources import ResourceDetail, ResourcesPage, SourceView
from broker_core.wire.submission import Wire

router = APIRouter()
LOCAL = "local"
"""Name of the source that tells of the broker's own sites."""


class SourceNames(Wire):
    """Sources to be asked now; empty: all."""

    names: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=1000)


@router.get("/resources", response_model=ResourcesPage)
async def resources(
    services: Parts,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=20_000)] = 1000,
) -> Response:
    """A page of all known resources by columns, ordered by computing element."""
    page = await resources_page(_cache(services), offset, limit, now())
    return Response(page, media_type=JSON)


@router.get("/resources/{ce:path}", response_model=ResourceDetail)
async def resource(ce: str, services: Parts) -> Response:
    """Everything known of one computing element, named by its id or by its site."""
    return json_response(resource_detail(_cache(services), ce, now()))


@router.get("/sources", response_model=list[SourceView])
async def sources(services: Parts) -> Response:
    """Where knowledge of resources comes from, and how each source does."""
    return json_response([view.model_dump() for view in _sources(services)])


@router.post("/sources/refresh", response_model=list[SourceView])
async def refresh(wanted: SourceNames, services: Parts) -> Response:
    """Ask sources now; answered when they have."""
    services.sites.refresh()
    return json_response([view.model_dump() for view in _sources(services)])


def _cache(services: Services) -> ResourceCache:
    cache, moment = ResourceCache(), now()
    facts = tuple(facts_of(one) for one in _known(services))
    cache.report(SourceHeard(LOCAL, moment.wall, moment.monotonic, facts, True, account=True))
    return cache


def _known(services: Services) -> list[Resource]:
    return sorted((site.describe() for site in services.sites.sites.values()), key=lambda one: one.ce)


def _sources(services: Services) -> list[SourceView]:
    known = _known(services)
    heard = max((one.updated for one in known), default=None)
    return [SourceView(name=LOCAL, kind=LOCAL, state="ok", last_heard=heard, resources=len(known))]
