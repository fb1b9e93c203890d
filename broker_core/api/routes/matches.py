"""Route of list-match: where a description could run, in which order, and why not elsewhere (CB-CMD-03)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from broker_core.api.dependencies import Parts
from broker_core.api.list_match import list_match
from broker_core.api.permissions import EVERYBODY
from broker_core.api.responses import JSON
from broker_core.submission.submissions import refused
from broker_core.wire.matches import MatchReport, MatchRequest

router = APIRouter(dependencies=[EVERYBODY])


@router.post("/matches", response_model=MatchReport)
async def matches(question: MatchRequest, services: Parts) -> Response:
    """Where a description could run, by the function that the scheduler uses; nothing is queued."""
    checked = await services.checker.check(question.description)
    if checked.description is None:
        raise refused(checked.diagnostics)
    return Response(await list_match(services, checked.description, question), media_type=JSON)
