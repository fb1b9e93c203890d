"""A site that answers as it is told, and the parts of a broker around it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.scheduling.live_job import HANDING_OVER
from broker_core.sites.contract import CurrentAttempts, KnownAttempt, Report
from broker_core.sites.link import Link, LinkEvent


class StandIn:
    """A site that answers as it was told: an exception is raised, a text returned, a future waited for."""

    name = "far"
    holds = True

    def __init__(self, *answers: Any) -> None:
        self.link = Link(lambda _: None)
        self.link.transition(LinkEvent.ANSWERED)
        self.answers = list(answers)
        self.asked: list[str] = []
        self.canceled: list[str] = []
        self.known: list[KnownAttempt] = []
        self.faults: list[Exception] = []
        """Raised by `start`, then by `cancel`."""

    async def start(self, report: Report, known: Sequence[KnownAttempt]) -> None:
        if self.faults:
            raise self.faults.pop()
        self.report = report
        self.known = list(known)

    async def submit(self, order: str) -> str:
        self.asked.append(order)
        answer = self.answers.pop(0) if self.answers else "id"
        if isinstance(answer, asyncio.Event):
            await answer.wait()
            return "late"
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    async def cancel(self, attempt: Component) -> None:
        if self.faults:
            raise self.faults.pop()
        self.canceled.append(attempt.tag)

    async def sweep(self, current: CurrentAttempts) -> bool:
        return False

    async def close(self) -> None:
        pass


@dataclass
class Heard:
    """What the engine of a test hears, and the jobs that it knows."""

    jobs: dict[str, JobRecord] = field(default_factory=dict)
    posted: list[Any] = field(default_factory=list)
    store: None = None
    leaving: set[str] = field(default_factory=set)
    """Jobs all of whose components are being ended."""

    @property
    def scheduler(self) -> Any:
        return SimpleNamespace(job=self._job, leaving=self.leaving.__contains__)

    def _job(self, job: str) -> Any:
        record = self.jobs.get(job)
        return record and SimpleNamespace(
            record=record, placements=record.placements,
            canceling=record.canceling is not None, attempt=HANDING_OVER,
        )

    def post(self, message: Any) -> None:
        self.posted.append(message)


class Orders:
    """Names orders by their attempt."""

    async def of(self, record: JobRecord, component: Component, _: object) -> str:
        return component.tag
