"""One job as it is shown."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from broker_core.bookkeeping.sqlite.codec import record_row
from broker_core.broker.engine.engine import Engine
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.submission.checking import Checker
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.jdl.check import Checked
from broker_core.jdl.description import JobDescription
from broker_core.jdl.syntax.write import write
from broker_core.jobs.annotations import Annotation
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.orders import STDERR, STDOUT
from broker_core.scheduling.live_job import AT_SITE
from broker_core.scheduling.wording import waits_at_site
from broker_core.system.clock import now
from broker_core.wire.checks import DiagnosticView
from broker_core.wire.views import JOB_COLUMNS, JobDetail, SandboxEntry, TransferView

S = JobState


class JobViews:
    """Shows jobs with what engine, store and sites know of them."""

    def __init__(self, engine: Engine, sites: SiteDispatcher, orders: LaunchOrders, checker: Checker) -> None:
        self._engine = engine
        self._sites = sites
        self._orders = orders
        self._checker = checker

    async def detail(self, record: JobRecord) -> JobDetail:
        """Everything about one job but its events and files."""
        text = await self._orders.text(record)
        checked = await self._checker.check(text, record.parameter)
        annotation = (await self._engine.store.annotations([record.id])).get(record.id, Annotation())
        written = {"tags": annotation.text, "note": annotation.note}
        detail = JobDetail(
            row=dict(zip(JOB_COLUMNS, record_row(record), strict=True)) | written,
            description=text,
            effective=text,
            output_sandbox=[],
            files=[
                SandboxEntry(name=file.name, size=file.size, sha256=file.sha256, executable=file.executable)
                for file in await self._orders.files(record)
            ],
            waits_for=self.waits_for(record),
            unheard_since=self._unheard(record),
            transfer=await self.transfer(record),
            usage=await self._usage(record),
            repeated_by=(await self._engine.store.reruns([record.id])).get(record.id, ""),
            queue_place=self._engine.scheduler.queue_position(record.id),
            diagnostics=_diagnostics(checked),
        )
        if checked.description is not None:
            _describe(detail, checked.description)
        return detail

    def waits_for(self, record: JobRecord) -> str:
        """Why a job has not moved on, and what will move it; empty when nothing is awaited."""
        waits = waits_at_site(record, silent=self._unheard(record) is not None)
        if waits:
            return f"{waits}."
        if record.state is S.SUBMITTED:
            return "Waits for the scheduler to take it over."
        if record.state is S.WAITING:
            return self._engine.scheduler.waits_for(record.id, now().monotonic)
        return ""

    def _unheard(self, record: JobRecord) -> float | None:
        """When the site of a live job was last heard from, where it is not connected now."""
        site = self._sites.site_of(record.ce) if record.state in AT_SITE else None
        if site is None or site.link.usable:
            return None
        return site.link.heard or site.link.since

    async def transfer(self, record: JobRecord) -> TransferView | None:
        """Its files that are on their way between its site and here."""
        site = None if record.state.ended else self._sites.site_of(record.ce)
        progress = site.link.transfers.get(record.component.tag) if site else None
        if progress is None:
            return None
        done = await asyncio.to_thread(progress.done)
        return TransferView(to_site=progress.to_site, done=min(done, progress.total), total=progress.total)

    async def _usage(self, record: JobRecord) -> dict[str, float]:
        """What the site said when the job ended, or the time it has run so far."""
        if record.state is S.RUNNING and record.started is not None:
            return {"wall_s": max(0.0, now().wall - record.started)}
        if not record.state.ended:
            return {}
        for event in reversed(await self._engine.store.events_of(record.id)):
            usage = event.details.get("usage")
            if isinstance(usage, dict):
                return {str(name): float(value) for name, value in usage.items()}
        return {}


def _describe(detail: JobDetail, description: JobDescription) -> None:
    detail.effective = write(description.ad)
    detail.output_sandbox = list(description.output_sandbox)
    detail.stdin = description.stdin
    detail.stdout = description.stdout or STDOUT
    detail.stderr = description.stderr or STDERR


def _diagnostics(checked: Checked) -> list[DiagnosticView]:
    return [DiagnosticView.model_validate(asdict(one)) for one in checked.diagnostics]
