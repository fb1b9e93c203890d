"""The files of a job at its site: names, roles, and opening one safely."""

from __future__ import annotations

import os

from broker_core.api.services import Services
from broker_core.errors import NotFound
from broker_core.jdl.description import JobDescription
from broker_core.jdl.names import is_listed
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.orders import STDERR, STDOUT
from broker_core.sites.contract import Site
from broker_core.sites.remote.removed import RemovedSite
from broker_core.wire.views import OutputFile


async def output_files(services: Services, record: JobRecord) -> list[OutputFile]:
    """Files of a job's last attempt that can be read now; none before it was at a site."""
    site = services.sites.site_of(record.ce) or services.registry.removed(record.ce)
    if site is None or not record.attempt:
        return []
    checked = await services.checker.check(await services.orders.text(record), record.parameter)
    found = await site.files(record.component)
    growing = record.state is JobState.RUNNING
    return [
        OutputFile(
            path=file.path,
            size=file.size,
            modified=file.modified,
            growing=growing,
            role=_role(file.path, checked.description),
        )
        for file in found
    ]


async def open_output(services: Services, record: JobRecord, path: str) -> int:
    """A file descriptor of one of a job's files; raises NotFound, also for what is no ordinary file."""
    site = _site(services, record)
    try:
        return os.open(
            await site.open_path(record.component, path),
            os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK,
        )
    except (OSError, ValueError) as error:
        raise NotFound(f"The job has no file {path!r} that can be read.", place=record.id) from error


def _site(services: Services, record: JobRecord) -> Site | RemovedSite:
    if not record.attempt:
        raise NotFound("The job has not been at a site, so it has no files.", place=record.id)
    site = services.sites.site_of(record.ce) or services.registry.removed(record.ce)
    if site is None:
        name = record.sites
        raise NotFound(
            f"{name} is not among the sites any more, and nothing of the job was brought here before.",
            place=record.id,
        )
    return site


def _role(path: str, description: JobDescription | None) -> str:
    if description is None:
        return "work"
    if path == (description.stdout or STDOUT):
        return "stdout"
    if path == (description.stderr or STDERR):
        return "stderr"
    listed = any(is_listed(path, entry) for entry in description.output_sandbox)
    return "output" if listed else "work"
