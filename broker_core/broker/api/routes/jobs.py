"""Routes of the jobs: the table, one job, its story, and the bulk commands (CB-CMD-02, CB-CMD-05)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Response

from broker_core.broker.api.dependencies import (
    EnginePart,
    Owner,
    RegistryPart,
    StorePart,
    own_job,
    own_jobs,
    part,
)
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import JSON, json_response
from broker_core.broker.api.views.jobs import JobViews
from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.stream import event_view
from broker_core.broker.site_management.retention import Purging
from broker_core.broker.submission.reruns import Reruns
from broker_core.errors import BadRequest, Conflict
from broker_core.jobs.annotations import NOTED_AT_ONCE, PAGE_COLUMNS, change_of
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.messages import CancelAsked, ElsewhereAsked, HoldAsked, ReleaseAsked, Request
from broker_core.wire.submission import WATCHED_AT_ONCE, AnnotationRequest, IdList, Outcomes, Receipt, Rerun
from broker_core.wire.views import EventView, JobDetail, JobsPage

ViewsPart = Annotated[JobViews, part(JobViews)]
PurgingPart = Annotated[Purging, part(Purging)]
RerunsPart = Annotated[Reruns, part(Reruns)]
router = APIRouter(dependencies=[OWNER])
_SLICE = 500
"""Jobs of a bulk command between two turns of the event loop."""
_UNKNOWN = "There is no such job."
_STATES: dict[str, JobState | Outcome] = {
    **{state.value: state for state in JobState},
    **{one.value.lower(): one for one in Outcome if one is not Outcome.UNKNOWN},
}
"""What may be asked for, by its name. A broker that knows no outcomes refuses them, as it should."""


@router.get("/jobs", response_model=JobsPage)
async def jobs(
    store: StorePart,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=20_000)] = 1000,
    after: Annotated[str, Query(max_length=200)] = "",
    state: Annotated[list[str], Query()] = [],  # noqa: B006 - the framework copies it
    columns: Annotated[str, Query(max_length=1000)] = "",
    latest: bool = False,
) -> Response:
    """A page of the caller's jobs by columns, newest first.

    `state`: names of states, as `Done`, and outcomes in small letters, as `failed`. `latest`: of each
    member of a batch only the last run.
    """
    wanted = tuple(column for column in columns.split(",") if column) or PAGE_COLUMNS
    states = [_state(name) for name in state]
    page = await store.jobs_page(owner, after, limit, states, wanted, latest=latest)
    return Response(orjson.dumps(page), media_type=JSON)


@router.get("/jobs/{job}", response_model=JobDetail)
async def job(job: str, store: StorePart, views: ViewsPart, owner: Owner) -> Response:
    """Everything about one job but its events and files."""
    return json_response(await views.detail(await own_job(store, owner, job)))


@router.get("/jobs/{job}/events", response_model=list[EventView])
async def events(job: str, store: StorePart, owner: Owner) -> Response:
    """The job's story, in order."""
    await own_job(store, owner, job)
    return json_response([event_view(event) for event in await store.events_of(job)])


@router.post("/jobs/cancel", response_model=Outcomes)
async def cancel(wanted: IdList, engine: EnginePart, owner: Owner) -> Response:
    """Stop jobs everywhere: at once where they wait, else as soon as their site confirms it."""
    return await _ask(wanted, engine, owner, CancelAsked, _cannot_cancel)


@router.post("/jobs/watch", response_model=Outcomes)
async def watch(wanted: IdList, registry: RegistryPart, store: StorePart, owner: Owner) -> Response:
    """Somebody looks at these jobs: their sites are asked sooner after those that wait there.

    Good for WATCHED seconds, and for WATCHED_AT_ONCE jobs at most.
    """
    if len(wanted.ids) > WATCHED_AT_ONCE:
        raise BadRequest(
            f"{len(wanted.ids):,} jobs at once are too many, {WATCHED_AT_ONCE:,} are accepted.",
            code="many_watched",
            remedy="Name those that somebody looks at.",
        )
    found = await own_jobs(store, owner, wanted.ids)
    registry.watch(found.values())
    return json_response(Outcomes(results={one: None if one in found else _UNKNOWN for one in wanted.ids}))


@router.post("/jobs/hold", response_model=Outcomes)
async def hold(wanted: IdList, engine: EnginePart, owner: Owner) -> Response:
    """Keep waiting jobs from being matched."""
    return await _ask(wanted, engine, owner, lambda job: HoldAsked(job, "On hold by its owner"), _cannot_hold)


@router.post("/jobs/release", response_model=Outcomes)
async def release(wanted: IdList, engine: EnginePart, owner: Owner) -> Response:
    """Lift a hold."""
    return await _ask(wanted, engine, owner, ReleaseAsked, _cannot_release)


@router.post("/jobs/annotate", response_model=Outcomes)
async def annotate(wanted: AnnotationRequest, engine: EnginePart, owner: Owner) -> Response:
    """Change tags and notes of jobs, whatever their states; all in one transaction.

    A note may be given to 1,000 jobs at once at most.
    """
    change = change_of(wanted.add, wanted.remove, wanted.note)
    if wanted.note and len(wanted.ids) > NOTED_AT_ONCE:
        raise BadRequest(
            f"A note for {len(wanted.ids):,} jobs at once is too much, {NOTED_AT_ONCE:,} are accepted.",
            code="many_notes",
            remedy="Give them a tag in common instead.",
        )
    results: dict[str, str | None] = {}
    mine: list[str] = []
    for ids in _slices(wanted.ids):
        found = await own_jobs(engine.store, owner, ids)
        results |= {one: None if one in found else "There is no such job." for one in ids}
        mine += (one for one in ids if one in found)
    if mine:
        results.update(await engine.annotate(owner, mine, change))
    return json_response(Outcomes(results=results))


@router.post("/jobs/resubmit", response_model=Receipt)
async def resubmit(wanted: Rerun, reruns: RerunsPart, owner: Owner) -> Response:
    """Run ended jobs once more, each as a new job in its place of the batch; answered when they are durable.

    All of them or none. The same key gives the same receipt.
    """
    return json_response(await reruns.submit(owner, wanted))


@router.post("/jobs/{job}/elsewhere", response_model=JobDetail)
async def elsewhere(job: str, engine: EnginePart, views: ViewsPart, owner: Owner) -> Response:
    """Match a job again although its attempt may still run at a silent site, where it is ended later."""
    await own_job(engine.store, owner, job)
    if refusal := engine.scheduler.not_elsewhere(job):
        raise Conflict(f"The job cannot be run elsewhere. {refusal}.", place=job)
    engine.post(ElsewhereAsked(job))
    await engine.settled()
    return json_response(await views.detail(await own_job(engine.store, owner, job)))


@router.post("/jobs/purge", response_model=Outcomes)
async def purge(wanted: IdList, store: StorePart, purging: PurgingPart, owner: Owner) -> Response:
    """Remove ended jobs and their files."""
    results: dict[str, str | None] = dict.fromkeys(wanted.ids, _UNKNOWN)
    for ids in _slices(wanted.ids):
        mine = await own_jobs(store, owner, ids)
        results |= dict.fromkeys(mine, "It has not ended yet; cancel it first.")
    known = [job for job, result in results.items() if result != _UNKNOWN]
    removed = await purging.purge(known, "Removed by its owner")
    results |= dict.fromkeys((record.id for record in removed), None)
    return json_response(Outcomes(results=results))


async def _ask(
    wanted: IdList,
    engine: Engine,
    owner: str,
    request: Callable[[str], Request],
    refusal: Callable[[JobRecord], str | None],
) -> Response:
    results: dict[str, str | None] = {}
    for ids in _slices(wanted.ids):
        mine = await own_jobs(engine.store, owner, ids)
        for one in ids:
            live = engine.scheduler.job(one)
            record = live.record if live and one in mine else mine.get(one)
            results[one] = refusal(record) if record is not None else _UNKNOWN
            if results[one] is None:
                engine.post(request(one))
    await engine.settled()
    return json_response(Outcomes(results=results))


def _slices(ids: list[str]) -> list[list[str]]:
    unique = list(dict.fromkeys(ids))
    return [unique[start : start + _SLICE] for start in range(0, len(unique), _SLICE)]


def _cannot_cancel(record: JobRecord) -> str | None:
    return f"It is {record.state} already." if record.state.ended else None


def _cannot_hold(record: JobRecord) -> str | None:
    if record.held:
        return "It is on hold already."
    return (
        None if record.state is JobState.WAITING else f"Only a waiting job can be held; it is {record.state}."
    )


def _cannot_release(record: JobRecord) -> str | None:
    return None if record.held and record.state is JobState.WAITING else "It is not on hold."


def _state(name: str) -> JobState | Outcome:
    if name not in _STATES:
        raise BadRequest(f"There is no state {name!r}.", remedy="Use " + ", ".join(_STATES) + ".")
    return _STATES[name]
