"""Sending a prepared submission: the files the broker lacks, then the descriptions."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from broker_core.client.commands.submissions import SubmissionCommands
from broker_core.client.prepare import Prepared, prepare
from broker_core.errors import BadRequest
from broker_core.jdl.parametric import MARK
from broker_core.wire.submission import Receipt, Submission, SubmissionItem


def new_key() -> str:
    """A key for one submission; sent again with it, the submission starts nothing twice."""
    return secrets.token_urlsafe(18)


async def submit_prepared(
    client: SubmissionCommands,
    prepared: Prepared | Sequence[Prepared],
    *,
    key: str = "",
    site: str = "",
    name: str = "",
    values: Sequence[str] | None = None,
    hold: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Receipt:
    """Upload what the broker lacks and submit all in one call; see `BrokerClient.submit_prepared`.

    Raises DescriptionRefused, before anything is sent, if one of them is not in order.
    """
    parts = [prepared] if isinstance(prepared, Prepared) else list(prepared)
    if not parts:
        raise BadRequest("There is nothing to submit.", code="empty_submission")
    parts = [await _with_values(part, values) for part in parts]
    for part in parts:
        if not part.ok:
            raise part.refused()
    if any(part.description is not None and part.description.interactive for part in parts):
        # Loaded here, because only interactive jobs need what it brings along.
        from broker_core.client.interactive import register_desk

        await register_desk(client)
    await _send_files(client, parts, progress)
    items = [
        SubmissionItem(
            description=part.whole,
            name=name,
            files=[one.wire() for one in part.files],
            values=None if values is None else list(values),
        )
        for part in parts
    ]
    return await client.submit(Submission(key=key or new_key(), items=items, site=site, hold=hold))


async def _with_values(part: Prepared, values: Sequence[str] | None) -> Prepared:
    """The same with the files of these values, if they were not looked for yet."""
    entries = part.description.input_sandbox if part.description is not None else ()
    if values is None or part.values == tuple(values) or not any(MARK in entry for entry in entries):
        return part
    return replace(await prepare(part.text, part.base_dir, values=values), origin=part.origin)


async def _send_files(
    client: SubmissionCommands, parts: Sequence[Prepared], progress: Callable[[int, int], None] | None
) -> None:
    sources: dict[str, tuple[Path, int]] = {
        one.sha256: (one.path, one.size) for part in parts for one in part.files
    }
    if not sources:
        return
    missing = await client.missing_files(sources)
    total = sum(sources[sha][1] for sha in missing)
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(min(done, total), total)

    for sha in missing:
        try:
            await client.upload(sha, sources[sha][0], step)
        except BadRequest as error:
            error.place = error.place or str(sources[sha][0])
            raise
