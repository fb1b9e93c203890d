"""Routes of a job's files: what can be read, any part of it, live or after the end (CB-CMD-04)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse
from starlette.convertors import Convertor, register_url_convertor

from broker_core.api.dependencies import Owner, Parts, own_job
from broker_core.api.output_files import open_output, output_files
from broker_core.api.permissions import OWNER
from broker_core.api.responses import json_response
from broker_core.errors import RangeNotSatisfiable
from broker_core.wire.submission import Fetched
from broker_core.wire.views import OutputFile


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
router = APIRouter(dependencies=[OWNER])
PART = 1 << 18
"""Bytes read at once."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes `start` to `end` (exclusive) of a file."""

    start: int
    end: int


@router.get("/jobs/{job}/files", response_model=list[OutputFile])
async def files(job: str, services: Parts, owner: Owner) -> Response:
    """Files of a job that can be read now."""
    found = await output_files(services, await own_job(services, owner, job))
    return json_response([file.model_dump() for file in found])


@router.get("/jobs/{job}/files/{path:anyname}", response_class=Response)
async def read(
    job: str, path: str, services: Parts, owner: Owner, range_: Annotated[str, Header(alias="range")] = ""
) -> Response:
    """A file, or the part that `Range` names; `Content-Range` tells the size that it has now."""
    record = await own_job(services, owner, job)
    handle = await open_output(services, record, path)
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


@router.post("/jobs/{job}/fetched")
async def fetched(job: str, word: Fetched, services: Parts, owner: Owner) -> dict[str, Any]:
    """The caller has the output: the job becomes Cleared, or stays Done where a listed file was missing."""
    await own_job(services, owner, job)
    await services.ended.fetched(job, word.missing)
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
