"""`crossdesk desk list`, `add` and `remove`: whose keys the agents of interactive jobs accept."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.wire.interactive import DeskView


def list_desks(as_json: Json = False, state_dir: StateDir = None) -> int:
    """List your desks; each registers itself when it first submits or attaches to an interactive job."""

    async def work(client: BrokerClient) -> list[DeskView]:
        return await client.desks()

    _show(with_client(work))
    return Exit.OK


def add(
    key: Annotated[
        str,
        typer.Argument(
            help="`ssh-ed25519 ...` of another desk, as `--show` prints it there; none: this one."
        ),
    ] = "",
    name: Annotated[str, typer.Option("--name", help="What to call it.")] = "",
    show: Annotated[
        bool, typer.Option("--show", help="Print the public key of this desk; change nothing.")
    ] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Register a desk, by the word of this one, or this one itself; jobs that run let it in at once."""
    from broker_core.client.interactive import register_desk, vouch
    from broker_core.interactive.shadow.desk_key import desk_key

    if show:
        output.line(desk_key().public)
        return Exit.OK

    async def work(client: BrokerClient) -> list[DeskView]:
        if key:
            comment = " ".join(key.split()[2:])
            return await vouch(client, key.strip(), name or comment)
        await register_desk(client, again=True)
        return await client.desks()

    _show(with_client(work))
    return Exit.OK


def remove(
    fingerprint: Annotated[str, typer.Argument(help="SHA256:... as `crossdesk desk list` shows it.")],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Remove a desk: jobs send it away at once, and it comes back only if it is added again."""

    async def work(client: BrokerClient) -> list[DeskView]:
        return await client.remove_desk(fingerprint)

    _show(with_client(work))
    return Exit.OK


def _show(desks: list[DeskView]) -> None:
    if session().json:
        output.as_json([one.model_dump() for one in desks])
        return
    for one in desks:
        output.line(f"{one.fingerprint}  {one.name}  ({one.added_by})")
