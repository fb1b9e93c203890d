"""Route of list-match: where a description could run, in which order, and why not elsewhere (CB-CMD-03)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response

from broker_core.broker.api.dependencies import part
from broker_core.broker.api.list_match import ListMatch
from broker_core.broker.api.permissions import EVERYBODY
from broker_core.broker.api.responses import JSON, json_response
from broker_core.broker.site_management.start_forecasts import StartForecasts
from broker_core.broker.submission.checking import Checker
from broker_core.broker.submission.items import refused
from broker_core.wire.matches import ForecastRequest, MatchReport, MatchRequest, StartForecast

CheckerPart = Annotated[Checker, part(Checker)]
ForecastsPart = Annotated[StartForecasts, part(StartForecasts)]
ListMatchPart = Annotated[ListMatch, part(ListMatch)]
router = APIRouter(dependencies=[EVERYBODY])


@router.post("/matches", response_model=MatchReport)
async def matches(question: MatchRequest, checker: CheckerPart, list_match: ListMatchPart) -> Response:
    """Where a description could run, by the function that the scheduler uses; nothing is queued."""
    checked = await checker.check(question.description)
    if checked.description is None:
        raise refused(checked.diagnostics)
    return Response(await list_match.report(checked.description, question, checker.limits), media_type=JSON)


@router.post("/matches/forecasts", response_model=list[StartForecast])
async def start_forecasts(question: ForecastRequest, checker: CheckerPart, sites: ForecastsPart) -> Response:
    """When a job would start at some computing elements, asked of their batch systems; nothing is queued."""
    checked = await checker.check(question.description)
    if checked.description is None:
        raise refused(checked.diagnostics)
    return json_response([one.model_dump() for one in await sites.ask(checked.description, question.ces)])
