"""`crossdesk replica list | add | remove`: where files in grid storage are."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client

Name = Annotated[str, typer.Argument(help="File, as lfn:/path or guid:identifier.", metavar="NAME")]


def list_replicas(
    start: Annotated[str, typer.Argument(help="Only names that begin so.", metavar="START")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="Limit.")] = 1000,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List files in grid storage with their copies, as the broker's own catalogue knows them."""
    found = with_client(lambda client: client.replicas(start, limit))
    if session().json:
        output.as_json(found.model_dump())
        return Exit.OK
    tables.table(("FILE", "COPIES"), [(one.name, ", ".join(one.addresses)) for one in found.files])
    if found.more:
        output.say("There are more; --limit shows up to 10,000.", "dim")
    elif not found.files:
        output.say("No file is known. `crossdesk replica add NAME ADDRESS` tells where one is.", "dim")
    return Exit.OK


def add(
    name: Name,
    addresses: Annotated[
        list[str], typer.Argument(help="Storage elements, or protocol://host/path.", metavar="ADDRESS")
    ],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Say where the copies of a file are; replaces what was said before."""
    kept = with_client(lambda client: client.put_replica(name, addresses))
    if session().json:
        output.as_json(kept.model_dump())
    else:
        output.say(f"{kept.name} is at {', '.join(kept.addresses)}.", "green")
    return Exit.OK


def remove(name: Name, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Forget where a file is."""
    with_client(lambda client: client.remove_replica(name))
    if session().json:
        output.as_json({"removed": name})
    else:
        output.say(f"{name} is forgotten.", "green")
    return Exit.OK
