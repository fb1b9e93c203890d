"""Routes of the sites: what they are, how they are connected, and what their owner does with them."""

from __future__ import annotations

from fastapi import APIRouter, Response

from broker_core.broker.answers import json_response
from broker_core.broker.asked import Owner, Parts
from broker_core.broker.site_views import site_views
from broker_core.wire.sites import SiteView

router = APIRouter()


@router.get("/sites", response_model=list[SiteView])
async def sites(services: Parts, owner: Owner) -> Response:
    """The sites with all that their cards show."""
    return json_response([view.model_dump() for view in await site_views(services, owner)])
