"""What a submission amounts to, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from app.editor.sizes import counted, size_text
from broker_core.client.prepare import Prepared
from broker_core.wire.matches import MatchReport


def headline(jobs: int) -> str:
    """What the sheet asks."""
    return f"Submit {counted(jobs, 'job', 'jobs')}?"


def amount(prepared: Sequence[Prepared], jobs: int) -> str:
    """CPUs, files and bytes of all descriptions together, which make so many jobs."""
    cpus = {one.description.cpus for one in prepared if one.description is not None}
    each = f"{counted(cpus.pop(), 'CPU', 'CPUs')}{' each' if jobs > 1 else ''}" if len(cpus) == 1 else ""
    contents = {file.sha256: file.size for one in prepared for file in one.files}
    files = sum(len(one.files) for one in prepared)
    sent = (
        f"{counted(files, 'file', 'files')}, {size_text(sum(contents.values()))}"
        if files
        else "no files to send"
    )
    return " · ".join(part for part in (each, sent) if part)


def where(report: MatchReport) -> tuple[bool, str]:
    """Whether it can start somewhere, and a sentence on where it goes or why it will wait."""
    matching = [resource for resource in report.resources if resource.matches]
    if not matching:
        why = report.advice or next((one.reason for one in report.resources if one.reason), "")
        return False, f"It will wait: no resource matches now. {why}".strip()
    best = matching[0]
    sites = {resource.site for resource in matching}
    others = f", or {counted(len(sites) - 1, 'other site', 'other sites')}" if len(sites) > 1 else ""
    free = f"{best.free_cpus} of {counted(best.total_cpus, 'CPU', 'CPUs')} free"
    return True, f"Goes to {best.site} ({free}){others}."
