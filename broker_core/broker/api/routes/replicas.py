"""Routes of the embedded replica catalogue (CB-UPD-06); one that is kept elsewhere is not edited here."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from broker_core.broker.api.dependencies import SettingsPart, part
from broker_core.broker.api.permissions import EVERYBODY, administrators
from broker_core.broker.api.responses import json_response
from broker_core.errors import Conflict
from broker_core.information.replicas.document import DocumentCatalog
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.settings.settings import Settings
from broker_core.wire.replicas import ReplicaList, ReplicaView

ReplicasPart = Annotated[ReplicaMemory, part(ReplicaMemory)]
router = APIRouter()
CHANGES = administrators("edit the replica catalogue")
Name = Annotated[str, Query(min_length=1, max_length=4096)]


@router.get("/replicas", response_model=ReplicaList, dependencies=[EVERYBODY])
async def listed(
    replicas: ReplicasPart,
    settings: SettingsPart,
    start: Annotated[str, Query(max_length=4096)] = "",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Response:
    """Files whose names begin with `start`, with their copies."""
    found = await _document(replicas, settings).listed(start, limit + 1)
    views = [ReplicaView(name=name, addresses=list(copies)) for name, copies in found.items()]
    return json_response(ReplicaList(files=views[:limit], more=len(views) > limit))


@router.put("/replicas", response_model=ReplicaView, dependencies=[CHANGES])
async def put(file: ReplicaView, replicas: ReplicasPart, settings: SettingsPart) -> Response:
    """Say where a file is; replaces what was said before."""
    await _document(replicas, settings).put(file.name, file.addresses)
    replicas.forget(file.name)
    return json_response(file)


@router.delete("/replicas", response_model=ReplicaList, dependencies=[CHANGES])
async def remove(name: Name, replicas: ReplicasPart, settings: SettingsPart) -> Response:
    """Forget a file; answered with what is known of its name now, which is nothing."""
    await _document(replicas, settings).remove(name)
    replicas.forget(name)
    return json_response(ReplicaList(files=[]))


def _document(replicas: ReplicaMemory, settings: Settings) -> DocumentCatalog:
    found = replicas.catalog
    if not isinstance(found, DocumentCatalog):
        raise Conflict(
            "The replica catalogue is kept by another program.",
            place=settings.replicas.address,
            code="foreign_catalogue",
            remedy="Edit it there; [replicas] of the settings names it.",
        )
    return found
