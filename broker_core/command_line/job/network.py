"""`crossdesk job network`: a private network between this machine and the node of an interactive job."""

from __future__ import annotations

import asyncio
import shlex
import sys
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.forward import beside
from broker_core.command_line.job.forward_forms import DirectPorts
from broker_core.command_line.job.ids import Job
from broker_core.errors import BadRequest, CrossDeskError

if TYPE_CHECKING:
    import asyncssh

_DEVICES = "ip -o link | cut -d: -f2"
_REMEDY = "Both sides need /dev/net/tun and the right to make networks (root, or CAP_NET_ADMIN)."


def network(
    job: Job,
    here: Annotated[str, typer.Option("--here", help="Address of this machine in it.")] = "10.77.0.1",
    there: Annotated[str, typer.Option("--there", help="Address of the node in it.")] = "10.77.0.2",
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Make a private network with the node of an interactive job until the job ends, or until Ctrl-C.

    Each side gets a network device of its own, as with ssh -w; packets between the two addresses go through
    the session. It takes root here, and a node that lets the job make networks.
    """
    _check(here, there)

    async def work(client: BrokerClient) -> int:
        from broker_core.interactive.shadow.session_events import SessionState

        async with beside(client, job, direct_ports) as opened:
            connection = await opened.connection()
            device, far = await devices(connection)
            await addressed(connection, device, far, here, there)
            _tell(device, here, far, there)
            await connection.wait_closed()
            if opened.status.state is SessionState.CLOSED:
                return Exit.OK
        raise CrossDeskError("The network has ended with its connection.", remedy="Ask for it again.")

    return with_client(work)


def _check(here: str, there: str) -> None:
    for name, value in (("--here", here), ("--there", there)):
        try:
            ip_address(value)
        except ValueError as error:
            raise BadRequest(f"{value} is no address.", place=name, code="usage") from error


async def devices(connection: asyncssh.SSHClientConnection) -> tuple[str, str]:
    """Make a device here and one there; returns their names, which may be the same. Raises CrossDeskError."""
    import asyncssh

    before = await _run(connection, _DEVICES)
    try:
        forward: Any = await connection.forward_tun()
    except (asyncssh.ChannelOpenError, OSError) as error:
        raise CrossDeskError(f"No private network can be made: {error}.", remedy=_REMEDY) from error
    new = set((await _run(connection, _DEVICES)).split()) - set(before.split())
    device = str(forward.get_extra_info("interface"))
    # Where the node is this machine, ours is new there too.
    far = sorted(new - {device} or new)
    if not far:
        raise CrossDeskError("The node made no network device.", remedy=_REMEDY)
    return device, far[0]


async def addressed(
    connection: asyncssh.SSHClientConnection, device: str, far: str, here: str, there: str
) -> None:
    """Give both ends their addresses; raises CrossDeskError."""
    await _run(connection, _commands(far, there, here))
    child = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", _commands(device, here, there), stderr=asyncio.subprocess.PIPE
    )
    _, said = await child.communicate()
    if child.returncode:
        raise CrossDeskError(
            f"This machine's end has no address: {said.decode(errors='replace').strip()}.", remedy=_REMEDY
        )


def _commands(device: str, own: str, other: str) -> str:
    name = shlex.quote(device)
    return f"ip address add {own} peer {other} dev {name} && ip link set {name} up"


async def _run(connection: asyncssh.SSHClientConnection, words: str) -> str:
    done = await connection.run(words, check=False)
    if done.exit_status:
        raise CrossDeskError(f"The node refuses: {str(done.stderr).strip()}.", remedy=_REMEDY)
    return str(done.stdout)


def _tell(device: str, here: str, far: str, there: str) -> None:
    if session().json:
        ends = {"here": {"device": device, "address": here}, "there": {"device": far, "address": there}}
        output.as_json(ends)
    else:
        output.line(f"{device} {here} here <-> {far} {there} at the node")
    sys.stdout.flush()
