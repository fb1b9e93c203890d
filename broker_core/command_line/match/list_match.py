"""`crossdesk job list-match` (CB-CMD-03, CB-CMD-06)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.prepare import prepare
from broker_core.command_line import diagnostics, output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.match import layout
from broker_core.errors import BadRequest
from broker_core.wire.matches import MatchReport, StartForecast

PAGE = 2000
"""Resources asked for at once; a tenth of that with their clauses."""
_FORECASTS = 5
"""Candidates whose batch systems are asked when a job would start."""
_OF_FILES = frozenset({"sandbox-file-missing", "sandbox-file-unreadable", "sandbox-too-big"})
"""What can be wrong with the files alone."""

Ask = Callable[..., Awaitable[MatchReport]]
"""Answers for fields of `MatchRequest`."""


def list_match(
    file: Annotated[Path, typer.Argument(help="Job description (JDL).", metavar="FILE")],
    explain: Annotated[
        bool, typer.Option("--explain", "-x", help="Tell for each other resource why not, clause by clause.")
    ] = False,
    resources: Annotated[
        Path | None,
        typer.Option(
            "--resources",
            "-r",
            help="Match against a file (.ldif, .toml) instead of what the broker knows; needs no broker.",
            metavar="FILE",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", help="Write the steps of the search for sets to this file.", metavar="FILE"),
    ] = None,
    site: Annotated[str, typer.Option("--site", help="Only this site (its name or CE).")] = "",
    policy: Annotated[
        str, typer.Option("--policy", help="Order by this policy instead of the one in force.")
    ] = "",
    assume_access: Annotated[
        bool, typer.Option("--assume-access", help="Also sites to which the broker has no way yet.")
    ] = False,
    part: Annotated[
        str,
        typer.Option(
            "--part",
            help="Of a sweep, collection or graph: show this value or node instead of the first.",
            metavar="NAME",
        ),
    ] = "",
    starts: Annotated[
        bool,
        typer.Option(
            "--starts", help="Have the batch systems of the first five say when it would start."
        ),
    ] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show where a description could run, with the number of resources; nothing is submitted."""

    async def of_broker(client: BrokerClient) -> None:
        text = await _described(file)
        wanted = {"site": site, "policy": policy, "assume_access": assume_access, "part": part}
        ask = partial(client.match, text, None, **wanted)
        forecasts = await _forecasts(client, text, ask) if starts else []
        await _told(ask, explain, trace, forecasts)

    async def of_file(path: Path) -> None:
        # Matching takes its time to be imported, which other commands need not wait for.
        from broker_core.command_line.match.file import FileMatch

        found = FileMatch(await _described(file), path, site, policy)
        await _told(partial(found.ask, part=part), explain, trace)

    if resources is not None and starts:
        raise BadRequest(
            "Batch systems are asked by the broker, which has no part in matching against a file.",
            remedy="Leave out --starts or --resources.",
        )
    if resources is None:
        with_client(of_broker)
    else:
        asyncio.run(of_file(resources))
    return Exit.OK


async def _described(file: Path) -> str:
    """The text to be matched. Files that are not there hinder no matching: they are only told of."""
    prepared = await prepare(file)
    if any(one.code not in _OF_FILES for one in prepared.errors):
        raise prepared.refused()
    slips = [one.model_copy(update={"severity": "warning"}) for one in prepared.errors]
    diagnostics.show(output.messages(), slips, prepared.origin, prepared.text)
    return prepared.whole


async def _forecasts(client: BrokerClient, text: str, ask: Ask) -> list[StartForecast]:
    """What the batch systems of the first candidates say."""
    first = await ask(offset=0, limit=_FORECASTS, explain=False, only="matching")
    ces = [one.ce for one in first.resources if one.matches]
    return await client.start_forecasts(text, ces) if ces else []


async def _told(
    ask: Ask, explain: bool, trace: Path | None, forecasts: Sequence[StartForecast] = ()
) -> None:
    if session().json:
        steps = await _as_json(ask, explain, forecasts)
    else:
        steps = await _printed(ask, explain)
        layout.forecasts(forecasts)
    if trace is not None:
        _write(trace, steps)


def _write(path: Path, steps: Sequence[str]) -> None:
    try:
        path.write_text("".join(f"{step}\n" for step in steps), encoding="utf-8")
    except OSError as error:
        raise BadRequest(
            f"The steps cannot be written: {(error.strerror or str(error)).lower()}.",
            place=str(path),
            remedy="Name a file that you may write.",
        ) from error


async def _pages(ask: Ask, only: str, explain: bool) -> AsyncIterator[MatchReport]:
    """The whole answer, page by page."""
    limit = PAGE // 10 if explain else PAGE
    offset = 0
    while True:
        page = await ask(offset=offset, limit=limit, explain=explain, only=only)
        yield page
        offset += limit
        if offset >= max(page.selected, page.groups_total):
            return


async def _as_json(ask: Ask, explain: bool, forecasts: Sequence[StartForecast]) -> Sequence[str]:
    """Returns the steps of the search for sets."""
    first, *others = [page async for page in _pages(ask, "all", explain)]
    for page in others:
        first.resources += page.resources
        first.groups += page.groups
    starts = {"forecasts": [one.model_dump() for one in forecasts]} if forecasts else {}
    output.as_json(first.model_dump() | starts)
    return first.trace


async def _printed(ask: Ask, explain: bool) -> Sequence[str]:
    """Returns the steps of the search for sets."""
    pages = [page async for page in _pages(ask, "matching", explain=False)]
    layout.notes(pages[0])
    layout.parts(pages[0].parts)
    layout.groups(pages)
    layout.summary(pages[0], explain)
    if explain:
        async for page in _pages(ask, "rejected", explain=True):
            layout.rejected(page.resources)
    return pages[0].trace
