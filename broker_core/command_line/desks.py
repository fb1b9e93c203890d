"""`crossdesk broker desks` and `forget-desk`: whose keys the agents of interactive jobs accept."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.session import Json, StateDir, session, with_client
from broker_core.wire.interactive import DeskView


def list_desks(as_json: Json = False, state_dir: StateDir = None) -> int:
    """List your desks; each registers itself when it first submits or attaches to an interactive job."""

    async def work(client: BrokerClient) -> list[DeskView]:
        return await client.desks()

    _show(with_client(work))
    return Exit.OK


def forget(
    fingerprint: Annotated[str, typer.Argument(help="SHA256:... as `crossdesk broker desks` shows it.")],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Forget a desk: jobs that start from now on do not let it in."""

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
