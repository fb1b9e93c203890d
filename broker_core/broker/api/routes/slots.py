"""The route of virtual slots (CB-UI-10)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response

from broker_core.broker.api.dependencies import Owner, part
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import json_response
from broker_core.broker.api.views.slots import SlotViews
from broker_core.wire.slots import SlotsView

router = APIRouter()


@router.get("/slots", response_model=SlotsView, dependencies=[OWNER])
async def slots(views: Annotated[SlotViews, part(SlotViews)], owner: Owner) -> Response:
    """The glideins that the caller's jobs caused or are in, with their slots and the last day of these."""
    return json_response((await views.slots(owner)).model_dump())
