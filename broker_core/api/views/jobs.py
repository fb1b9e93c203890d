"""One job as it is shown."""

from __future__ import annotations

from dataclasses import asdict

from broker_core.api.services import Services
from broker_core.bookkeeping.sqlite.codec import record_row
from broker_core.clock import now
from broker_core.jdl.check import Checked
from broker_core.jdl.description import JobDescription
from broker_core.jdl.syntax.write import write
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.orders import STDERR, STDOUT
from broker_core.scheduling.live_job import AT_SITE
from broker_core.scheduling.wording import waits_at_site
from broker_core.wire.checks import DiagnosticView
from broker_core.wire.views import JOB_COLUMNS, JobDetail, SandboxEntry

S = JobState


async def job_detail(services: Services, record: JobRecord) -> JobDetail:
    """Everything about one job but its events and files."""
    text = await services.orders.text(record)
    checked = await services.checker.check(text, record.parameter)
    detail = JobDetail(
        row=dict(zip(JOB_COLUMNS, record_row(record), strict=True)),
        description=text,
        effective=text,
        output_sandbox=[],
        files=[
            SandboxEntry(name=file.name, size=file.size, sha256=file.sha256, executable=file.executable)
            for file in await services.orders.files(record)
        ],
        waits_for=waits_for(services, record),
        unheard_since=_unheard(services, record),
        usage=await _usage(services, record),
        queue_place=services.engine.scheduler.queue_position(record.id),
        diagnostics=_diagnostics(checked),
    )
    if checked.description is not None:
        _describe(detail, checked.description)
    return detail


def _describe(detail: JobDetail, description: JobDescription) -> None:
    detail.effective = write(description.ad)
    detail.output_sandbox = list(description.output_sandbox)
    detail.stdin = description.stdin
    detail.stdout = description.stdout or STDOUT
    detail.stderr = description.stderr or STDERR


def _diagnostics(checked: Checked) -> list[DiagnosticView]:
    return [DiagnosticView.model_validate(asdict(one)) for one in checked.diagnostics]


def waits_for(services: Services, record: JobRecord) -> str:
    """Why a job has not moved on, and what will move it; empty when nothing is awaited."""
    waits = waits_at_site(record, silent=_unheard(services, record) is not None)
    if waits:
        return f"{waits}."
    if record.state is S.SUBMITTED:
        return "Waits for the scheduler to take it over."
    if record.state is S.WAITING:
        return services.engine.scheduler.waits_for(record.id, now().monotonic)
    return ""


def _unheard(services: Services, record: JobRecord) -> float | None:
    """When the site of a live job was last heard from, where it is not connected now."""
    site = services.sites.site_of(record.ce) if record.state in AT_SITE else None
    if site is None or site.link.usable:
        return None
    return site.link.heard or site.link.since


async def _usage(services: Services, record: JobRecord) -> dict[str, float]:
    """What the site said when the job ended, or the time it has run so far."""
    if record.state is S.RUNNING and record.started is not None:
        return {"wall_s": max(0.0, now().wall - record.started)}
    if not record.state.ended:
        return {}
    for event in reversed(await services.store.events_of(record.id)):
        usage = event.details.get("usage")
        if isinstance(usage, dict):
            return {str(name): float(value) for name, value in usage.items()}
    return {}
