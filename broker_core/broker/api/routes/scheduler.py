"""Routes of the scheduler: the queue with its reasons, decisions, policies (CB-UI-11)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from broker_core.broker.api.dependencies import EnginePart, Owner, StorePart, StreamPart, own_job, part
from broker_core.broker.api.permissions import EVERYBODY, OWNER, administrators
from broker_core.broker.api.responses import JSON, json_response
from broker_core.broker.api.views.queue import QueueViews
from broker_core.broker.engine.engine import Engine
from broker_core.broker.matchmaking.policy_choice import ActivePolicies
from broker_core.scheduling.messages import PoliciesChosen
from broker_core.wire.queue import DecisionView, PolicyChoice, PolicyView, QueueView, WhyView

ViewsPart = Annotated[QueueViews, part(QueueViews)]
PoliciesPart = Annotated[ActivePolicies, part(ActivePolicies)]
router = APIRouter()


@router.get("/queue", response_model=QueueView, dependencies=[OWNER])
async def queue(views: ViewsPart, owner: Owner) -> Response:
    """The caller's waiting jobs in the order of the queue, each with the reason why it waits."""
    return Response(await views.queue(owner), media_type=JSON)


@router.get("/jobs/{job}/why", response_model=WhyView, dependencies=[OWNER])
async def why(job: str, store: StorePart, views: ViewsPart, owner: Owner) -> Response:
    """Why a job is not running, by what decides it."""
    return json_response(views.why(await own_job(store, owner, job)))


@router.get("/decisions", response_model=list[DecisionView], dependencies=[OWNER])
async def decisions(
    decided: ViewsPart,
    owner: Owner,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 500,
) -> Response:
    """What the scheduler decided about the caller's jobs, oldest first."""
    views = await decided.decisions(owner, after, limit)
    return json_response([view.model_dump() for view in views])


@router.get("/policies", response_model=list[PolicyView], dependencies=[EVERYBODY])
async def policies(policies: PoliciesPart, engine: EnginePart) -> Response:
    """The policies that can be chosen, and those in force."""
    return _policies(policies, engine)


@router.put(
    "/policies", response_model=list[PolicyView], dependencies=[administrators("choose the policies")]
)
async def choose(
    choice: PolicyChoice, policies: PoliciesPart, engine: EnginePart, stream: StreamPart
) -> Response:
    """Put policies in force; kept over a restart. On a shared broker for administrators only."""
    policies.choose(choice)
    engine.post(PoliciesChosen(policies.policy(), policies.queue_policy()))
    stream.topics.scheduler_changed()
    return _policies(policies, engine)


def _policies(policies: ActivePolicies, engine: Engine) -> Response:
    views = policies.views(engine.scheduler.policy_problem)
    return json_response([view.model_dump() for view in views])
