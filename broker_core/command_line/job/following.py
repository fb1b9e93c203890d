"""Waiting for jobs to end, and watching them on the way."""

from __future__ import annotations

import asyncio
import codecs
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from broker_core.client.client import BrokerClient
from broker_core.command_line.exits import TimedOut
from broker_core.errors import NotFound
from broker_core.jobs.outcome import Outcome, failure_cause, outcome_of
from broker_core.jobs.query import JobQuery
from broker_core.jobs.reruns import latest_members
from broker_core.jobs.states import JobState
from broker_core.wire.submission import WATCHED
from broker_core.wire.views import Update

Row = dict[str, Any]
_COLOR = re.compile(r"(\x1b\[[0-9;]*m)")
_PAGE = 5000
_LOOK = 0.2
"""Seconds between two looks at a growing file."""


def rows_of(columns: dict[str, list[Any]]) -> list[Row]:
    """The rows of a columnar page."""
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


async def all_rows(
    client: BrokerClient, states: Sequence[str] = (), columns: Sequence[str] = ()
) -> AsyncIterator[tuple[list[Row], int]]:
    """Pages of rows, newest job first, each with the position that it is true for."""
    after = ""
    while True:
        page = await client.jobs_page(_PAGE, after, states, columns)
        yield rows_of(page.columns), page.position
        after = page.next
        if not after:
            return


async def matching_rows(
    client: BrokerClient, states: Sequence[str], query: JobQuery | None, latest: bool = False
) -> AsyncIterator[list[Row]]:
    """Pages of the rows that a query selects (None: all), newest job first.

    `latest`: of each member of a batch only the job that ran last.
    """
    after = ""
    while True:
        page = await client.jobs_page(_PAGE, after, states, latest=latest)
        rows = rows_of(page.columns)
        if query is not None:
            rows = [rows[at] for at in query.select(page.columns, range(len(rows)), time.time())]
        yield rows
        after = page.next
        if not after:
            return


async def snapshot(client: BrokerClient, ids: Sequence[str]) -> tuple[dict[str, Row], int]:
    """Rows of the given jobs and the position to follow from; raises NotFound for one that is unknown."""
    wanted, found, position = set(ids), dict[str, Row](), None
    async for rows, at in all_rows(client):
        position = at if position is None else min(position, at)
        found |= {row["id"]: row for row in rows if row["id"] in wanted}
        if len(found) == len(wanted):
            break
    for job in ids:
        if job not in found:
            remedy = "`crossdesk job list --all` names all."
            raise NotFound(f"There is no job {job}.", code="unknown_job", remedy=remedy)
    return found, position or 0


async def until_ended(
    client: BrokerClient,
    ids: Sequence[str],
    *,
    timeout: float | None = None,
    changed: Callable[[Row], None] | None = None,
    first: bool = False,
) -> list[Row]:
    """Rows of the jobs when all have ended, with `first` when one has; `changed` gets each row as it changes.

    Raises TimedOut.
    """
    try:
        async with asyncio.timeout(timeout):
            return await _until_ended(client, ids, changed, len(ids) - 1 if first else 0)
    except TimeoutError:
        raise TimedOut from None


async def _until_ended(
    client: BrokerClient, ids: Sequence[str], changed: Callable[[Row], None] | None, left: int
) -> list[Row]:
    """As `until_ended`, when at most `left` jobs have not ended."""
    rows, position = await snapshot(client, ids)
    waiting = {job for job, row in rows.items() if not JobState(row["state"]).ended}
    if changed:
        for job in ids:
            changed(rows[job])
    if len(waiting) > left:
        following = client.follow(position, events=False)
        async with watching(client, lambda: waiting), aclosing(following) as updates:
            async for update in updates:
                _take(update, rows, waiting, changed)
                if len(waiting) <= left:
                    break
    return [rows[job] for job in ids]


@asynccontextmanager
async def watching(client: BrokerClient, jobs: Callable[[], Iterable[str]]) -> AsyncIterator[None]:
    """Let the broker know meanwhile that somebody looks at the jobs that `jobs` tells, each time anew."""

    async def tell() -> None:
        while True:
            if named := sorted(jobs()):
                await client.watch(named)
            await asyncio.sleep(WATCHED / 2)

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _take(
    update: Update, rows: dict[str, Row], waiting: set[str], changed: Callable[[Row], None] | None
) -> None:
    """Bring `rows` up to date and take out of `waiting` what has ended or is gone."""
    for row in rows_of(update.rows):
        if row["id"] in rows:
            row = rows[row["id"]] = rows[row["id"]] | row
            if changed:
                changed(row)
            if JobState(row["state"]).ended:
                waiting.discard(row["id"])
    for annotation in rows_of(update.annotated):
        if annotation["id"] in rows:
            rows[annotation["id"]] |= annotation
    waiting.difference_update(update.gone)


async def copy_output(client: BrokerClient, job: str, ended: asyncio.Event, names: Sequence[str]) -> None:
    """Copy what a job writes to `names` (its stdout, then its stderr) to ours, until it has ended."""
    places = [0] * len(names)
    decoders = [codecs.getincrementaldecoder("utf-8")("replace") for _ in names]
    targets = (sys.stdout, sys.stderr)
    last = False
    while True:
        for index, name in enumerate(names):
            if name:
                places[index] += await _copy(
                    client, job, name, places[index], decoders[index], targets[index]
                )
        if last:
            return
        try:
            async with asyncio.timeout(_LOOK):
                await ended.wait()
            last = True
        except TimeoutError:
            continue


async def _copy(client: BrokerClient, job: str, name: str, start: int, decoder: Any, target: Any) -> int:
    copied = 0
    while True:
        try:
            part = await client.read_file(job, name, start + copied, 1 << 20)
        except NotFound:
            return copied  # not made yet, or not collected yet
        if not part.content:
            return copied
        copied += len(part.content)
        text = decoder.decode(part.content)
        target.write(terminal_safe(text) if target.isatty() else text)
        target.flush()


def terminal_safe(text: str) -> str:
    """A job's output for a terminal: colours stay, other control characters are made visible."""
    parts = _COLOR.split(text)
    return "".join(part if index % 2 else _visible(part) for index, part in enumerate(parts))


def _visible(text: str) -> str:
    return "".join(
        char if char.isprintable() or char in "\n\t\r" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


async def follow_jobs(
    client: BrokerClient, ids: Sequence[str], changed: Callable[[Row], None], timeout: float | None
) -> list[Row]:
    """`until_ended`, with the output of a single job copied as it comes."""
    if len(ids) != 1:
        return await until_ended(client, ids, timeout=timeout, changed=changed)
    detail = await client.job(ids[0])
    ended = asyncio.Event()
    names = [detail.stdout, detail.stderr if detail.stderr != detail.stdout else ""]
    copying = asyncio.create_task(copy_output(client, ids[0], ended, names))
    try:
        rows = await until_ended(client, ids, timeout=timeout, changed=changed)
        ended.set()
        await copying
    finally:
        copying.cancel()
        await asyncio.gather(copying, return_exceptions=True)
    return rows


def latest_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows that stand for jobs: of each member of a batch the last run among them."""
    ids, reruns = [row["id"] for row in rows], [row.get("rerun_of", "") for row in rows]
    batches = [row.get("batch", "") for row in rows]
    return [rows[number] for number in latest_members(ids, reruns, batches)]


def failed(rows: Sequence[Row]) -> bool:
    """True unless every job is done; of a member of a batch the last run counts."""
    return any(outcome_of_row(row) is not Outcome.DONE for row in latest_rows(rows))


def outcome_of_row(row: Row) -> Outcome:
    """The outcome of a job by its row."""
    return outcome_of(row["state"], row["exit_code"])


def with_outcome(row: Row) -> Row:
    """The row of a job as it is printed as JSON: with its outcome, and why it failed."""
    why = failure_cause(row["state"], row["exit_code"], row["signal"], row["reason"])
    return row | {"outcome": outcome_of_row(row).value, "failure": why}
