"""Routes of a job's files: what can be read, any part of it, live or after the end (CB-CMD-04)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse
from starlette.convertors import Convertor, register_url_convertor

from broker_core.broker.api.dependencies import Owner, StorePart, own_job, part
from broker_core.broker.api.permissions import OWNER
from broker_core.broker.api.responses import json_response
from broker_core.broker.engine.ended_jobs import EndedJobs
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.broker.submission.checking import Checker
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.errors import Conflict, NotFound, RangeNotSatisfiable
from broker_core.jdl.description import JobDescription
from broker_core.jdl.names import ALL_NEW, is_listed
from broker_core.jobs.placement import Component, ComputingElement, Placement
from broker_core.jobs.published.records import FILE as PUBLISHED
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.use import FILE as USE
from broker_core.launching.files import FileStore
from broker_core.launching.orders import STDERR, STDOUT
from broker_core.sites.contract import Site
from broker_core.sites.left_files import LeftAtSite
from broker_core.sites.remote.removed import RemovedSite
from broker_core.wire.submission import Fetched
from broker_core.wire.views import LeftFileView, LeftView, OutputFile

EndedPart = Annotated[EndedJobs, part(EndedJobs)]
InputsPart = Annotated[FileStore, part(FileStore)]
router = APIRouter(dependencies=[OWNER])
PART = 1 << 18
"""Bytes read at once."""


class _AnyName(Convertor[str]):
    """The name of a file of a job: any character may stand in it, a line break too."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """The name as it came."""
        return value

    def to_string(self, value: str) -> str:
        """The name as it is."""
        return value


register_url_convertor("anyname", _AnyName())


class JobOutput:
    """The files of jobs, where their sites have them or where they were brought to."""

    def __init__(
        self, sites: SiteDispatcher, registry: SiteRegistry, orders: LaunchOrders, checker: Checker
    ) -> None:
        self._sites = sites
        self._registry = registry
        self._orders = orders
        self._checker = checker

    async def listed(self, record: JobRecord) -> list[OutputFile]:
        """Files of a job's last attempt that can be read now; none before it was at a site. Of components
        after the first they stand in a folder of their own."""
        if not record.attempt:
            return []
        checked = await self._checker.check(await self._orders.text(record), record.parameter)
        description = checked.description
        sent: Set[str] = frozenset()
        if description is not None:
            renamed = dict(description.renamed)
            sent = {renamed.get(file.name, file.name) for file in await self._orders.files(record)}
        growing, files = record.state is JobState.RUNNING, list[OutputFile]()
        for index, placement in enumerate(record.placements or (Placement(record.ce, record.cpus),)):
            component, known = Component(record.id, record.attempt, index), self._sites.site_of(placement.ce)
            site = known or self._registry.removed(placement.ce)
            if site is None:
                continue
            fetched: Set[str] = frozenset()
            if record.state.ended and known is not None:
                fetched = frozenset((await known.left(component)).fetched)
            files += [
                OutputFile(
                    path=_folder_of(index) + file.path,
                    size=file.size,
                    modified=file.modified,
                    growing=growing,
                    role="output" if file.path in fetched else _role(file.path, description, sent),
                )
                for file in await site.files(component)
                if file.path not in (USE, PUBLISHED)
            ]
        return files

    async def opened(self, record: JobRecord, path: str) -> int:
        """A file descriptor of one of a job's files; raises NotFound, also for what is no ordinary file."""
        component, ce, own = _component_of(record, path)
        site = self._site(record, ce)
        try:
            return os.open(
                await site.open_path(component, own),
                os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK,
            )
        except (OSError, ValueError) as error:
            raise NotFound(f"The job has no file {path!r} that can be read.", place=record.id) from error

    async def left(self, record: JobRecord) -> LeftView:
        """What of a job is at its site alone; nothing before it has ended, or where the site was removed."""
        site = self._sites.site_of(record.ce) if record.attempt and record.state.ended else None
        left = LeftAtSite() if site is None else await site.left(record.component)
        return _left_view(record, left)

    async def fetch_left(self, record: JobRecord, names: Sequence[str]) -> LeftView:
        """Bring files that stayed; raises NotFound and LinkLost."""
        site = self._known_site(record)
        return _left_view(record, await site.fetch_left(record.component, names))

    async def forget_left(self, record: JobRecord, names: Sequence[str]) -> LeftView:
        """Let files go that stayed; raises NotFound."""
        site = self._known_site(record)
        return _left_view(record, await site.forget_left(record.component, names))

    def _known_site(self, record: JobRecord) -> Site:
        """The site of an ended job; raises Conflict and NotFound."""
        if not record.state.ended:
            raise Conflict("The job has not ended.", place=record.id, code="not_ended")
        site = self._sites.site_of(record.ce)
        if site is None:
            raise NotFound("Nothing of the job stayed at a site that is known.", place=record.id)
        return site

    def _site(self, record: JobRecord, ce: ComputingElement) -> Site | RemovedSite:
        if not record.attempt:
            raise NotFound("The job has not been at a site, so it has no files.", place=record.id)
        site = self._sites.site_of(ce) or self._registry.removed(ce)
        if site is None:
            name = record.sites
            raise NotFound(
                f"{name} is not among the sites any more, and nothing of the job was brought here before.",
                place=record.id,
            )
        return site


OutputPart = Annotated[JobOutput, part(JobOutput)]


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes `start` to `end` (exclusive) of a file."""

    start: int
    end: int


@router.get("/jobs/{job}/files", response_model=list[OutputFile])
async def files(job: str, store: StorePart, output: OutputPart, owner: Owner) -> Response:
    """Files of a job that can be read now."""
    found = await output.listed(await own_job(store, owner, job))
    return json_response([file.model_dump() for file in found])


@router.get("/jobs/{job}/files/{path:anyname}", response_class=Response)
async def read(
    job: str,
    path: str,
    store: StorePart,
    output: OutputPart,
    owner: Owner,
    range_: Annotated[str, Header(alias="range")] = "",
) -> Response:
    """A file, or the part that `Range` names; `Content-Range` tells the size that it has now."""
    record = await own_job(store, owner, job)
    handle = await output.opened(record, path)
    size = os.fstat(handle).st_size
    try:
        span = _span(range_, size)
    except RangeNotSatisfiable:
        os.close(handle)
        raise
    headers = {"content-length": str(span.end - span.start), "accept-ranges": "bytes"}
    if range_:
        headers["content-range"] = f"bytes {span.start}-{span.end - 1}/{size}"
    return StreamingResponse(
        _parts(handle, span), 206 if range_ else 200, headers, media_type="application/octet-stream"
    )


@router.get("/jobs/{job}/inputs/{name:anyname}", response_class=Response)
async def read_input(job: str, name: str, store: StorePart, inputs: InputsPart, owner: Owner) -> Response:
    """A file that the job was sent with."""
    await own_job(store, owner, job)
    sent = next((file for file in await store.files_of(job) if file.name == name), None)
    if sent is None:
        raise NotFound(f"The job was not sent with a file {name!r}.", place=job)
    try:
        handle = os.open(inputs.path(sent.sha256), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise NotFound(f"The broker has the input file {name!r} no longer.", place=job) from error
    headers = {"content-length": str(sent.size)}
    return StreamingResponse(
        _parts(handle, _Span(0, sent.size)), headers=headers, media_type="application/octet-stream"
    )


@router.post("/jobs/{job}/fetched")
async def fetched(
    job: str, word: Fetched, store: StorePart, ended: EndedPart, owner: Owner
) -> dict[str, Any]:
    """The caller has the output: the job becomes Cleared, or stays Done where a listed file was missing."""
    await own_job(store, owner, job)
    await ended.fetched(job, word.missing)
    return {}


async def _parts(handle: int, span: _Span) -> AsyncIterator[bytes]:
    try:
        at = span.start
        while at < span.end:
            part = await asyncio.to_thread(os.pread, handle, min(PART, span.end - at), at)
            if not part:
                return
            at += len(part)
            yield part
    finally:
        os.close(handle)


def _span(asked: str, size: int) -> _Span:
    """The part of a file that a Range header asks for; raises RangeNotSatisfiable."""
    if not asked:
        return _Span(0, size)
    first, dash, last = asked.removeprefix("bytes=").strip().partition("-")
    if (
        not asked.startswith("bytes=")
        or not dash
        or not _number(first)
        or not _number(last)
        or first == last == ""
    ):
        raise _unsatisfiable(asked, size)
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
    if start >= end:
        raise _unsatisfiable(asked, size)
    return _Span(start, end)


def _number(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and len(text) < 19)


def _unsatisfiable(asked: str, size: int) -> RangeNotSatisfiable:
    return RangeNotSatisfiable(f"The file has {size:,} bytes now; the range {asked!r} is not in it.")


def _left_view(record: JobRecord, left: LeftAtSite) -> LeftView:
    files = [LeftFileView(path=one.shown, size=one.size) for one in left.files]
    return LeftView(
        site=record.sites, files=files, more=left.more, more_bytes=left.more_bytes, goes=left.goes
    )


def _folder_of(index: int) -> str:
    """Where the files of a component of several stand among those of the job; the first has none."""
    return f"component-{index}/" if index else ""


def _component_of(record: JobRecord, path: str) -> tuple[Component, ComputingElement, str]:
    """Of a file of a job: the component that has it, where that is, and its name there."""
    for index, one in enumerate(record.placements[1:], 1):
        if path.startswith(_folder_of(index)):
            return Component(record.id, record.attempt, index), one.ce, path.removeprefix(_folder_of(index))
    return record.component, record.ce, path


def _role(path: str, description: JobDescription | None, sent: Set[str]) -> str:
    """`sent`: names of the input files."""
    if description is None:
        return "work"
    if path == (description.stdout or STDOUT):
        return "stdout"
    if path == (description.stderr or STDERR):
        return "stderr"
    # What stands for all that is new names nothing that was sent.
    named = (entry for entry in description.output_sandbox if path not in sent or entry != ALL_NEW)
    if any(is_listed(path, entry) for entry in named):
        return "output"
    return "input" if path in sent else "work"
