"""Routes about the broker itself: who it is, statistics, documents, the event stream, its end."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request, Response

from broker_core.broker.answers import json_response
from broker_core.broker.asked import Owner, Parts
from broker_core.broker.event_response import EventResponse
from broker_core.broker.permissions import EVERYBODY, OWNER, operators
from broker_core.errors import BadRequest, NotFound
from broker_core.wire.views import BrokerInfo, Statistics, Update

router = APIRouter()
DOCUMENT_MAX = 4_000_000
"""Bytes of one document."""
Position = Annotated[int, Query(ge=0, le=2**62)]


@router.get("/broker", response_model=BrokerInfo, dependencies=[EVERYBODY])
async def broker(services: Parts, owner: Owner) -> Response:
    """Who answers, and how it does."""
    return json_response(await services.info(owner))


@router.post("/broker/stop", dependencies=[operators("stop the process")])
async def stop(services: Parts) -> dict[str, Any]:
    """End the broker cleanly; followers are told first, so that none of them starts another."""
    services.stream.stop()
    services.stop("asked to stop")
    return {}


@router.post("/broker/handover", dependencies=[operators("replace the process")])
async def handover(services: Parts) -> dict[str, Any]:
    """Stop accepting, save and end, so that a newer program can take over; running jobs go on."""
    await services.submissions.settle()
    services.stop("handed over to another program")
    return {}


@router.get("/statistics", response_model=Statistics, dependencies=[OWNER])
async def statistics(services: Parts, owner: Owner) -> Response:
    """Counters and distributions of the caller's jobs (CB-UI-13)."""
    return json_response(await services.store.statistics(owner))


@router.get("/documents/{name}", dependencies=[OWNER])
async def document(name: str, services: Parts, owner: Owner) -> Response:
    """A small JSON document kept for the caller."""
    body = await services.store.document(owner, name)
    if body is None:
        raise NotFound("There is no document of this name.", place=name)
    return Response(body, media_type="application/json")


@router.put(
    "/documents/{name}",
    openapi_extra={"requestBody": {"content": {"application/json": {"schema": {}}}}},
    dependencies=[OWNER],
)
async def save_document(name: str, request: Request, services: Parts, owner: Owner) -> dict[str, Any]:
    """Keep a small JSON document for the caller."""
    body = await request.body()
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The document is not JSON: {error}.", place=name) from error
    if len(body) > DOCUMENT_MAX or len(name) > 200:
        raise BadRequest(f"A document has at most {DOCUMENT_MAX:,} bytes, its name 200.", place=name[:200])
    await services.store.save_document(owner, name, body.decode())
    return {}


@router.get("/events", response_class=Response, responses={200: {"model": Update}}, dependencies=[OWNER])
async def events(
    services: Parts, owner: Owner, after: Position = 0, last_event_id: Annotated[str, Header()] = ""
) -> Response:
    """Server-sent events after a position, without end; `Last-Event-ID` wins over `after` (CB-LB-04)."""
    start = int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) < 19 else after
    return EventResponse(services.stream.follow(owner, start))
