"""Resources and descriptions for matching."""

from __future__ import annotations

from typing import Any

from broker_core.jdl.check import check
from broker_core.jdl.description import JobDescription
from broker_core.resources.record import Resource


def resource(
    name: str = "here", total: int = 4, free: int = 4, waiting: int = 0, **attributes: Any
) -> Resource:
    """A computing element at site `name`."""
    known = {"GlueCEStateStatus": "Production", "GlueHostMainMemoryRAMSize": 512, **attributes}
    return Resource(f"{name}:2119/jobmanager-fork-q", name, total, free, total - free, waiting, 0.0, known)


def job(text: str = "") -> JobDescription:
    """A checked description of `/bin/true` with more attributes."""
    checked = check(f'Executable = "/bin/true"; {text}')
    assert checked.description is not None, checked.diagnostics
    return checked.description
