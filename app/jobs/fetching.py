"""Bringing the output of jobs into a folder of the user, and saying what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import units
from app.context import Notice, Tone
from broker_core.client.fetch import Fetch, fetch_output, named_folder, new_folder
from broker_core.errors import CrossDeskError, Unreachable
from broker_core.jobs.batch_names import BatchName

if TYPE_CHECKING:
    from app.context import AppContext

_NAMED = 3
"""Names or reasons of a kind that a notice tells."""


async def fetch_jobs(
    context: AppContext, ids: Sequence[str], folder: Path, progress: Callable[[int, int], None]
) -> Path:
    """Save the output of ended jobs below `folder`, and tell of it; returns the folder that holds it.

    Each job gets a new folder; those of one batch stand in a new one for all of them. What cannot be fetched
    of one job keeps no other back. Raises Unreachable where the broker goes away amid it.
    """
    rows = [row for row in map(context.jobs.row, ids) if row is not None]
    batches = {row["batch"] for row in rows}
    within = folder
    if len(rows) > 1 and len(batches) == 1 and None not in batches and "" not in batches:
        within = await asyncio.to_thread(new_folder, folder, _batch_folder(rows))
    found: list[Fetch] = []
    refused: list[str] = []
    try:
        for job in ids:
            try:
                found.append(await fetch_output(context.client, job, within, progress))
            except Unreachable:
                raise
            except CrossDeskError as error:
                if len(ids) == 1:
                    raise
                refused.append(str(error))
    finally:
        target = found[0].directory if len(ids) == 1 and found else within
        if found or refused:
            context.notify(_notice(found, refused, len(ids), target))
    return target


def _batch_folder(rows: Sequence[Mapping[str, Any]]) -> str:
    name = BatchName()
    for row in rows:
        name.add(row["name"], row["parameter"])
    return named_folder(name.common(), "", rows[0]["batch"])


def _notice(found: Sequence[Fetch], refused: Sequence[str], asked: int, folder: Path) -> Notice:
    """What was saved, and each kind of what was not."""
    files = units.count(sum(len(one.files) for one in found), "file")
    of = f" of {units.count(len(found), 'job')}" if asked > 1 else ""
    sentences = [f"Saved {files}{of} ({units.size(sum(one.size for one in found))}) in {folder}."]
    missing: list[str] = []
    unsafe: list[str] = []
    failed = [why.rstrip(".") for why in refused]
    for one in found:
        missing += one.missing
        unsafe += map(repr, one.refused)
        failed += (why.rstrip(".") for why in one.failed)
    kinds = (
        ("Not made by the job" if asked == 1 else "Not made", missing),
        ("Not saved, because the name leads out of the folder", unsafe),
        ("Not saved", failed),
    )
    sentences += [f"{kind}: {_few(names)}." for kind, names in kinds if names]
    job = found[0].job if found and asked == 1 else ""
    return Notice(" ".join(sentences), Tone.WARNING if len(sentences) > 1 else Tone.GOOD, job=job)


def _few(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f", and {rest:,} more" if rest > 0 else "")
