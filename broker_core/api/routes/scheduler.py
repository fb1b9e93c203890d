"""Routes of the scheduler: the queue with its reasons, decisions, policies (CB-UI-11)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from broker_core.api.dependencies import Owner, Parts, own_job
from broker_core.api.permissions import EVERYBODY, OWNER, administrators
from broker_core.api.responses import JSON, json_response
from broker_core.api.services import Services
from broker_core.api.views.queue import decision_views, queue_view, why_view
from broker_core.scheduling.messages import PoliciesChosen
from broker_core.wire.queue import DecisionView, PolicyChoice, PolicyView, QueueView, WhyView

router = APIRouter()


@router.get("/queue", response_model=QueueView, dependencies=[OWNER])
async def queue(services: Parts, owner: Owner) -> Response:
    """The caller's waiting jobs in the order of the queue, each with the reason why it waits."""
    return Response(await queue_view(services, owner), media_type=JSON)


@router.get("/jobs/{job}/why", response_model=WhyView, dependencies=[OWNER])
async def why(job: str, services: Parts, owner: Owner) -> Response:
    """Why a job is not running, by what decides it."""
    record = await own_job(services, owner, job)
    return json_response(why_view(services, record))


@router.get("/decisions", response_model=list[DecisionView], dependencies=[OWNER])
async def decisions(
    services: Parts,
    owner: Owner,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 500,
) -> Response:
    """What the scheduler decided about the caller's jobs, oldest first."""
    views = await decision_views(services, owner, after, limit)
    return json_response([view.model_dump() for view in views])


@router.get("/policies", response_model=list[PolicyView], dependencies=[EVERYBODY])
async def policies(services: Parts) -> Response:
    """The policies that can be chosen, and those in force."""
    return _policies(services)


@router.put(
    "/policies", response_model=list[PolicyView], dependencies=[administrators("choose the policies")]
)
async def choose(choice: PolicyChoice, services: Parts) -> Response:
    """Put policies in force; kept over a restart. On a shared broker for administrators only."""
    services.policies.choose(choice)
    policies = services.policies
    services.engine.post(PoliciesChosen(policies.policy(), policies.queue_policy()))
    services.stream.topics.scheduler_changed()
    return _policies(services)


def _policies(services: Services) -> Response:
    views = services.policies.views(services.engine.scheduler.policy_problem)
    return json_response([view.model_dump() for view in views])
