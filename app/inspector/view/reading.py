"""Reading what a job published, part by part, and making the views of it without stopping the window."""

from __future__ import annotations

import asyncio
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

from app import units
from app.stores.slices import breathe
from app.widgets import qt_types
from broker_core.errors import NotFound
from broker_core.jobs.published.records import FILE, MOST

if TYPE_CHECKING:
    from types import ModuleType

    from broker_core.client.client import BrokerClient
    from broker_core.jobs.published.recording import Recording

_PART = 1 << 20
"""Bytes that are asked for at once."""
_INLINE = 1 << 14
"""Bytes that are decoded at once; more go to another thread."""


class PartRead(Enum):
    """What follows a part."""

    MORE = "more"
    """The file has more already."""
    ALL = "all"
    """That was all for now."""
    REPLACED = "replaced"
    """The file is another one: the job was started again."""


async def read_part(client: BrokerClient, job: str, recording: Recording) -> PartRead:
    """Read and decode the next part. Raises NotFound where the job is gone, and the errors of the broker."""
    if recording.full:
        return PartRead.ALL
    try:
        part = await client.read_file(job, FILE, recording.position, _PART)
    except NotFound:
        await client.job(job)
        return PartRead.ALL
    if part.size < recording.position:
        return PartRead.REPLACED
    if len(part.content) <= _INLINE:
        recording.feed(part.content)
    else:
        await asyncio.to_thread(recording.feed, part.content)
    return PartRead.MORE if part.content and recording.position < part.size else PartRead.ALL


async def plotting_module(name: str) -> ModuleType:
    """A module that is built on pyqtgraph, which is heavy to import: the window is looked after meanwhile."""
    for _ in qt_types.in_steps():
        await breathe()
    return await asyncio.to_thread(import_module, name)


def remarks_on(recording: Recording) -> str:
    """What of all that was published is not shown, in sentences; empty where all is."""
    found = []
    if recording.full:
        found.append(f"A job publishes {MOST >> 30} GiB at most; what came later was left out.")
    if recording.thinned:
        found.append("Of very long curves the least and the greatest values are shown.")
    if recording.overflow:
        found.append(f"{units.count(recording.overflow, 'record')} of further names were left out.")
    if recording.steering.left_out:
        found.append(f"{units.count(recording.steering.left_out, 'record')} about parameters were left out.")
    if recording.unreadable:
        lines = units.count(recording.unreadable, "line")
        found.append(f"{lines} could not be read. The first: {recording.reason}")
    return " ".join(found)
