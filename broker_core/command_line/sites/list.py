"""`crossdesk site list | refresh`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import Row, rows_of
from broker_core.command_line.sites import words as site_words
from broker_core.wire.resources import SourceView
from broker_core.wire.site_states import SourceCondition
from broker_core.wire.sites import SiteView

_STATES = {
    SourceCondition.OK: "green",
    SourceCondition.ASKING: "yellow",
    SourceCondition.SLOW: "yellow",
    SourceCondition.FAILED: "red",
    SourceCondition.DISABLED: "dim",
}
_FINE = (SourceCondition.OK, SourceCondition.ASKING, SourceCondition.DISABLED)
_PAGE = 5000
_SHOWN = 200


def list_sites(
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Every known resource, also those where no job can be sent.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", help="Limit with --all (0: all).")
    ] = _SHOWN,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List the sites where jobs can run, with their CPUs and queues."""
    if everything:
        return _list_resources(limit)
    sites, sources = with_client(_places)
    if session().json:
        output.as_json({"sites": [one.model_dump() for one in sites]})
        return Exit.OK
    numbers = (
        "CPUS",
        "FREE",
        *(["GPUS FREE"] if any(one.gpus for one in sites) else []),
        *(["SLOTS FREE"] if any(one.total_slots for one in sites) else []),
        "RUNNING",
        "WAITING",
    )
    heads = ("SITE", "CE", "KIND", "LINK", *numbers, "HEARD")
    tables.table(heads, [_site(one, numbers) for one in sites], right=numbers)
    for one in sources:
        if one.state not in _FINE:
            output.say(f"source {one.name} {one.state}: {one.reason}", "yellow")
    _tell_refused(sources)
    return Exit.OK


async def _places(client: BrokerClient) -> tuple[list[SiteView], list[SourceView]]:
    return await client.sites(), await client.sources()


def _tell_refused(sources: Sequence[SourceView]) -> None:
    """What was refused of the answers, the first of each in words."""
    for one in sources:
        if told := one.refusals():
            output.say(f"source {one.name}: {one.refused:,} refused", "yellow")
            for line in told:
                output.say(f"  {line}", "yellow")


def _site(one: SiteView, numbers: Sequence[str]) -> tuple[str | Text, ...]:
    more = f" and {len(one.ces) - 1} more" if len(one.ces) > 1 else ""
    free_gpus = str(sum(count.free for count in one.gpus)) if one.gpus else ""
    free_slots = f"{one.free_slots} of {one.total_slots}" if one.total_slots else ""
    optional = {"GPUS FREE": free_gpus, "SLOTS FREE": free_slots}
    others = (text for head, text in optional.items() if head in numbers)
    counts = (one.total_cpus, one.free_cpus, *others, one.running, one.queued)
    link = site_words.standing(one, short=True)
    return (
        one.name,
        "".join(one.ces[:1]) + more,
        one.title,
        link,
        *map(str, counts),
        words.ago(one.link.heard),
    )


def _list_resources(limit: int) -> int:
    rows, total = with_client(lambda client: _resources(client, limit))
    if session().json:
        output.as_json({"resources": rows, "total": total})
        return Exit.OK
    heads = ("CE", "SITE", "CPUS", "FREE", "COMMITTED", "RUNNING", "WAITING", "MARKS", "SOURCE", "HEARD")
    tables.table(heads, [_resource(row) for row in rows], right=heads[2:7])
    if total > len(rows):
        output.say(f"{total - len(rows):,} more; --limit 0 shows all.", "dim")
    return Exit.OK


async def _resources(client: BrokerClient, limit: int) -> tuple[list[Row], int]:
    """Rows of the Resource Cache, by pages, and how many it has in all."""
    rows: list[Row] = []
    while True:
        wanted = min(_PAGE, limit - len(rows)) if limit else _PAGE
        page = await client.resources_page(len(rows), wanted)
        rows += rows_of(page.columns)
        if len(rows) >= min(limit or page.total, page.total) or not page.columns["ce"]:
            return rows, page.total


def _resource(row: Row) -> tuple[str | Text, ...]:
    names = ("total_cpus", "free_cpus", "committed", "running", "waiting")
    return (
        row["ce"],
        row["site"],
        *(str(row[name]) for name in names),
        _marks(row),
        row["sources"],
        words.ago(row["updated"]),
    )


def _marks(row: dict[str, Any]) -> Text:
    """Marks, lock and the want of a way to send jobs there."""
    found = [mark for mark in row["marks"].split(",") if mark]
    found += ["locked"] if row["lock_owner"] else []
    found += [] if row["access"] else ["no access"]
    return Text(", ".join(found), style="yellow")


def refresh(
    names: Annotated[list[str] | None, typer.Argument(help="Sources; none: all.", metavar="NAME")] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Ask the sources of information now and show what each answered; exit code 1 if one failed."""
    sources = with_client(lambda client: client.refresh_sources(names or ()))
    if session().json:
        output.as_json({"sources": [one.model_dump() for one in sources]})
    else:
        heads = ("SOURCE", "KIND", "STATE", "RESOURCES", "TOOK", "HEARD", "WHY")
        tables.table(heads, [_source(one) for one in sources], right=("RESOURCES", "TOOK"))
        _tell_refused(sources)
    failed = any(one.state not in (SourceCondition.OK, SourceCondition.DISABLED) for one in sources)
    return Exit.ERROR if failed else Exit.OK


def _source(one: SourceView) -> tuple[str | Text, ...]:
    silent = f"silent: {', '.join(one.silent)}" if one.silent else ""
    refused = f"{one.refused:,} refused" if one.refused else ""
    return (
        one.name,
        one.kind,
        Text(one.state, style=_STATES[one.state]),
        str(one.resources),
        words.duration(one.duration),
        words.ago(one.last_heard),
        "; ".join(part for part in (one.reason, silent, refused) if part),
    )
