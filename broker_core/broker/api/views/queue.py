"""The queue of pending requests, decisions, and why a job is not running, as they are shown (CB-UI-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

import orjson

from broker_core.broker.api.dependencies import own_jobs
from broker_core.broker.api.views.jobs import JobViews
from broker_core.broker.engine.engine import Engine
from broker_core.broker.matchmaking.policy_choice import ActivePolicies
from broker_core.jobs.record import JobRecord
from broker_core.scheduling.decisions import Decision
from broker_core.scheduling.questions import QueuedJob
from broker_core.scheduling.scheduler import Scheduler
from broker_core.system.clock import now
from broker_core.system.cooperative import in_turns
from broker_core.wire.queue import QUEUE_COLUMNS, DecisionView, FailedChoice, WhyView

FOR_ALL = ""
"""Job of a decision that concerns all jobs, such as a round."""


class QueueViews:
    """Shows what the scheduler decides and why."""

    def __init__(self, engine: Engine, jobs: JobViews, policies: ActivePolicies) -> None:
        self._engine = engine
        self._jobs = jobs
        self._policies = policies

    async def queue(self, owner: str) -> bytes:
        """The caller's part of the queue in order, a `QueueView` in JSON."""
        rows, total = await in_turns(_rows(self._engine.scheduler, owner))
        columns = []
        for index, name in enumerate(QUEUE_COLUMNS):
            columns.append(b'"%b":%b' % (name.encode(), orjson.dumps([row[index] for row in rows])))
            await asyncio.sleep(0)
        about = {
            "total": total,
            "policy": self._policies.order,
            "queue_policy": self._policies.queue,
            "next_round": self._engine.scheduler.next_round if total else None,
        }
        return b'{"columns":{%b},%b' % (b",".join(columns), orjson.dumps(about)[1:])

    def why(self, record: JobRecord) -> WhyView:
        """Why a job is not running, by what decides it."""
        headline = self._jobs.waits_for(record)
        why = self._engine.scheduler.why(record.id, now().monotonic)
        if why is None:
            known = len(self._engine.scheduler.cache.entries)
            return WhyView(job=record.id, headline=headline or f"It is {record.state}.", known=known)
        return WhyView(
            job=record.id,
            headline=headline or f"It is {record.state}.",
            details=why.details,
            place=why.position,
            held_back_by=why.held_back_by,
            matching_now=why.matching_now,
            matching_ever=why.matching_ever,
            known=why.known,
            next_round=why.next_round,
            remedy=why.remedy,
            trying=[*why.trying],
            failed=[FailedChoice(ces=[*one.ces], error=one.error) for one in why.failed],
        )

    async def decisions(self, owner: str, after: int, limit: int) -> list[DecisionView]:
        """Decisions about the caller's jobs and about all jobs, oldest first."""
        log, views = self._engine.scheduler.decisions, list[DecisionView]()
        while len(views) < limit and (part := log.after(after, limit)):
            after = part[-1].number
            jobs = [one.job for one in part if one.job != FOR_ALL]
            mine = {FOR_ALL, *(await own_jobs(self._engine.store, owner, jobs))}
            views += [_decision(one) for one in part if one.job in mine]
        return views[:limit]


def _rows(scheduler: Scheduler, owner: str) -> Generator[None, None, tuple[list[tuple[Any, ...]], int]]:
    """The caller's rows, and the number of waiting jobs of all."""
    rows, total = [], 0
    for one in scheduler.queue(now().monotonic):
        total += 1
        if one.job.record.owner == owner:
            rows.append(_row(one))
        yield
    return rows, total


def _row(one: QueuedJob) -> tuple[Any, ...]:
    record = one.job.record
    return (
        record.id,
        record.name,
        one.position,
        record.cpus,
        "interactive" if record.interactive else "batch",
        record.accepted or record.submitted,
        one.reason,
        [one.blocking] if one.blocking else [],
        one.state,
    )


def _decision(one: Decision) -> DecisionView:
    return DecisionView(**one._asdict() | {"resources": list(one.resources)})
