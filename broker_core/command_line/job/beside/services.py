"""`crossdesk job services`: pages that a job serves at its node, in the browser of this machine."""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from typing import TYPE_CHECKING, Annotated

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
    from broker_core.client.interactive import ServiceView, ShadowSession


def services(
    job: Job,
    name: Annotated[
        str, typer.Argument(help="Which service to open; empty: the first.", metavar="[NAME]")
    ] = "",
    opening: Annotated[
        bool, typer.Option("--open", help="Open it in the browser, as soon as it answers.")
    ] = False,
    url: Annotated[
        bool, typer.Option("--url", help="Print its address, which has its token, instead.")
    ] = False,
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List pages that a job serves at its node (notebooks, TensorBoard, ...), or open one in the browser.

    Also of batch jobs: an agent is brought there, which takes a few seconds. The way to an opened page
    stays until the job ends, or until Ctrl-C. Help, Interactive jobs, says how a program tells of a page.
    """

    async def work(client: BrokerClient) -> int:
        async with beside(client, job, direct_ports) as opened:
            if opening or url:
                await _open(opened, name, url=url)
            else:
                await opened.forwards.services.answered.wait()
                _list(opened.forwards.services.views())
        return Exit.OK

    return with_client(work)


def _list(views: tuple[ServiceView, ...]) -> None:
    if session().json:
        output.as_json([{"name": one.name, "state": one.state, "problem": one.problem} for one in views])
        return
    for one in views:
        output.line(f"{one.name}  {one.state}  {one.problem}".rstrip())
    if not views:
        output.say("The job serves no page so far.")


async def _open(opened: ShadowSession, name: str, *, url: bool) -> None:
    """Open the service when it is ready, then stay until the session ends; raises CrossDeskError."""
    from broker_core.client.interactive import ServiceState

    shown = False
    async for _ in opened.events():
        views = opened.forwards.services.views()
        wanted = next((one for one in views if name in ("", one.name)), None)
        if shown or wanted is None or wanted.state is ServiceState.STARTING:
            continue
        await _show(await opened.forwards.services.address(wanted.name), url=url)
        shown = True
    if not shown:
        raise BadRequest("The job has ended, and offered no such page.", place=name)


async def _show(address: str, *, url: bool) -> None:
    """Give an address to the browser, or to who asked for it; it is a secret, and written nowhere else."""
    if url:
        output.as_json({"url": address}) if session().json else output.line(address)
        sys.stdout.flush()
    elif not await asyncio.to_thread(webbrowser.open, address):
        raise CrossDeskError("No browser could be started here.", remedy="--url prints the address.")
