"""Routes about the broker itself: who it is, statistics, documents, the event stream, its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from broker_core.broker.api.dependencies import (
    Owner,
    SettingsPart,
    StorePart,
    StreamPart,
    SubmissionsPart,
    part,
)
from broker_core.broker.api.permissions import EVERYBODY, OWNER, administrators, operators
from broker_core.broker.api.responses import json_response
from broker_core.broker.api.views.broker import BrokerStatus, Shutdown
from broker_core.broker.matchmaking.policy_choice import authorize
from broker_core.broker.site_management.retention import RetentionChoice
from broker_core.errors import BadRequest, NotAuthorized, NotFound
from broker_core.wire.views import BrokerInfo, RetentionChange, RetentionView, Statistics, Update

PATIENCE = 30.0
"""Seconds that one message may wait to be taken; then the connection is dropped and the client resumes."""
router = APIRouter()
DOCUMENT_MAX = 4_000_000
"""Bytes of one document."""
StatusPart = Annotated[BrokerStatus, part(BrokerStatus)]
ShutdownPart = Annotated[Shutdown, part(Shutdown)]
RetentionPart = Annotated[RetentionChoice, part(RetentionChoice)]
_CHANGE = "change these settings"
Position = Annotated[int, Query(ge=0, le=2**62)]


class SseResponse(Response):
    """Streams chunks of `text/event-stream` until the client leaves, lags too far, or the source ends."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one follower."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        async for chunk in self._chunks:
            async with asyncio.timeout(PATIENCE):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


@router.get("/broker", response_model=BrokerInfo, dependencies=[EVERYBODY])
async def broker(status: StatusPart, owner: Owner) -> Response:
    """Who answers, and how it does."""
    return json_response(await status.info(owner))


@router.get("/broker/alive", dependencies=[EVERYBODY])
async def alive() -> dict[str, Any]:
    """Answered at once: who waits for this longer than moments waits for a broker that hangs."""
    return {}


@router.post("/broker/stop", dependencies=[operators("stop the process")])
async def stop(stream: StreamPart, shutdown: ShutdownPart) -> dict[str, Any]:
    """End the broker cleanly; followers are told first, so that none of them starts another."""
    stream.stop()
    shutdown.begin("asked to stop", on_purpose=True)
    return {}


@router.post("/broker/handover", dependencies=[operators("replace the process")])
async def handover(submissions: SubmissionsPart, shutdown: ShutdownPart) -> dict[str, Any]:
    """Stop accepting, save and end, so that a newer program can take over; running jobs go on."""
    await submissions.settle()
    shutdown.begin("handed over to another program")
    return {}


@router.get("/broker/retention", response_model=RetentionView, dependencies=[EVERYBODY])
async def retention(choice: RetentionPart, settings: SettingsPart, owner: Owner) -> Response:
    """How long and how much is kept, and why the caller cannot change that, if so."""
    try:
        authorize(settings.mode, owner, settings.administrators, _CHANGE)
    except NotAuthorized as refusal:
        return json_response(choice.view(f"{refusal.message} Ask one of them."))
    return json_response(choice.view())


@router.put("/broker/retention", response_model=RetentionView, dependencies=[administrators(_CHANGE)])
async def choose_retention(change: RetentionChange, choice: RetentionPart) -> Response:
    """Keep for longer or less; in force at once, and after a restart too."""
    choice.choose(change)
    return json_response(choice.view())


@router.get("/statistics", response_model=Statistics, dependencies=[OWNER])
async def statistics(store: StorePart, owner: Owner) -> Response:
    """Counters and distributions of the caller's jobs (CB-UI-13)."""
    return json_response(await store.statistics(owner))


@router.get("/documents/{name}", dependencies=[OWNER])
async def document(name: str, store: StorePart, owner: Owner) -> Response:
    """A small JSON document kept for the caller."""
    body = await store.document(owner, name)
    if body is None:
        raise NotFound("There is no document of this name.", place=name)
    return Response(body, media_type="application/json")


@router.put(
    "/documents/{name}",
    openapi_extra={"requestBody": {"content": {"application/json": {"schema": {}}}}},
    dependencies=[OWNER],
)
async def save_document(name: str, request: Request, store: StorePart, owner: Owner) -> dict[str, Any]:
    """Keep a small JSON document for the caller."""
    body = await request.body()
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The document is not JSON: {error}.", place=name) from error
    if len(body) > DOCUMENT_MAX or len(name) > 200:
        raise BadRequest(f"A document has at most {DOCUMENT_MAX:,} bytes, its name 200.", place=name[:200])
    await store.save_document(owner, name, body.decode())
    return {}


@router.get("/events", response_class=Response, responses={200: {"model": Update}}, dependencies=[OWNER])
async def events(
    stream: StreamPart, owner: Owner, after: Position = 0, last_event_id: Annotated[str, Header()] = ""
) -> Response:
    """Server-sent events after a position, without end; `Last-Event-ID` wins over `after` (CB-LB-04)."""
    start = int(last_event_id) if last_event_id.isdecimal() and len(last_event_id) < 19 else after
    return SseResponse(stream.follow(owner, start))
