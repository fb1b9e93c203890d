"""Job ids on the command line: whole, shortened, from standard input; and their completion."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.command_line.job.following import Row, all_rows, latest_rows, outcome_of_row, rows_of
from broker_core.command_line.shielding import WHOLE_ID, unshielded
from broker_core.errors import BadRequest, CrossDeskError, NotFound

_SHORTEST = 4
_OFFERED = 200


async def resolve(
    client: BrokerClient, given: Sequence[str], *, batches: bool = False, latest: bool = False
) -> list[str]:
    """Whole ids for what was typed: an id, at least four characters of its beginning, or `-` for a list on
    standard input; with `batches` the id of a batch stands for all its jobs, with `latest` without those that
    were run again.

    Raises NotFound, or BadRequest for a beginning that fits several jobs.
    """
    typed = [unshielded(word) for word in given]
    if "-" in typed:
        listed = sys.stdin.read().split()
        typed = [one for word in typed for one in (listed if word == "-" else [word])]
    if not typed:
        raise BadRequest("No job is named.", code="no_jobs")
    short = [word for word in typed if not WHOLE_ID.fullmatch(word)]
    whole = await _complete(client, short) if short else {}
    ids = list(dict.fromkeys(whole.get(word, word) for word in typed))
    return await _opened(client, ids, latest) if batches else ids


async def _opened(client: BrokerClient, ids: Sequence[str], latest: bool) -> list[str]:
    """The ids, with the jobs of a batch in its place; what is neither is left for the broker to refuse."""
    wanted = set(ids)
    members: dict[str, list[Row]] = {}
    async for rows, _ in all_rows(client, columns=("id", "batch", "rerun_of")):
        wanted.difference_update(row["id"] for row in rows)
        for row in rows:
            if row["batch"] in wanted:
                members.setdefault(row["batch"], []).append(row)
        if not wanted:
            break
    if latest:
        members = {batch: latest_rows(rows) for batch, rows in members.items()}
    named = {batch: [row["id"] for row in reversed(rows)] for batch, rows in members.items()}
    return list(dict.fromkeys(job for one in ids for job in named.get(one, [one])))


async def _complete(client: BrokerClient, short: Sequence[str]) -> dict[str, str]:
    fitting: dict[str, list[str]] = {word: [] for word in short}
    async for rows, _ in all_rows(client, columns=("id",)):
        for row in rows:
            for word, found in fitting.items():
                if row["id"].startswith(word) and len(word) >= _SHORTEST:
                    found.append(row["id"])
    return {word: _only(word, found) for word, found in fitting.items()}


def _only(word: str, found: list[str]) -> str:
    if not found:
        raise NotFound(
            f"There is no job {word!r}.", code="unknown_job", remedy="`crossdesk job list --all` names all."
        )
    if len(found) > 1:
        raise BadRequest(
            f"{len(found)} jobs begin with {word!r}.", code="unclear_id", remedy="Type more of the id."
        )
    return found[0]


def _offer_jobs(incomplete: str) -> list[tuple[str, str]]:
    async def ask() -> list[tuple[str, str]]:
        async with await connect(start=False, patience=0) as client, asyncio.timeout(2):
            page = await client.jobs_page(_OFFERED, columns=("id", "name", "state", "exit_code"))
        rows = rows_of(page.columns)
        found = [row for row in rows if row["id"].startswith(incomplete)]
        return [(row["id"], f"{row['name']} {outcome_of_row(row)}") for row in found]

    return _quietly(ask())


def _offer_sites(incomplete: str) -> list[tuple[str, str]]:
    async def ask() -> list[tuple[str, str]]:
        async with await connect(start=False, patience=0) as client, asyncio.timeout(2):
            sites = await client.sites()
        return [(site.name, site.title) for site in sites if site.name.startswith(incomplete)]

    return _quietly(ask())


def _quietly(offers: Coroutine[None, None, list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Completion offers nothing where no broker answers; an error would end up in the user's prompt."""
    try:
        return list(asyncio.run(offers))
    except (CrossDeskError, TimeoutError):
        return []


Jobs = Annotated[
    list[str],
    typer.Argument(
        help="Ids of jobs, or of whole batches, or first characters; - reads them.",
        autocompletion=_offer_jobs,
        metavar="ID",
    ),
]
"""One or more jobs."""

Job = Annotated[
    str, typer.Argument(help="Job id, or its first characters.", autocompletion=_offer_jobs, metavar="ID")
]
"""One job."""

SiteName = Annotated[str, typer.Argument(help="Name of a site.", autocompletion=_offer_sites, metavar="SITE")]
"""One site that was added, or this machine."""

Site = Annotated[str, typer.Option("--site", help="Send it to this site only.", autocompletion=_offer_sites)]
"""Name of a site."""
