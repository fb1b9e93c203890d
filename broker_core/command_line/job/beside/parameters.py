"""`crossdesk job parameters` and `job set`: what a running program lets be changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.forward import beside
from broker_core.command_line.job.forward_forms import DirectPorts
from broker_core.command_line.job.ids import Job, resolve
from broker_core.command_line.tables import table
from broker_core.errors import BadRequest, CrossDeskError, NotFound

if TYPE_CHECKING:
    from broker_core.client.interactive import ShadowSession
    from broker_core.jobs.published.parameters import ParameterHistory
    from broker_core.jobs.published.recording import Recording

_PART = 1 << 20
_PAUSE = 0.25
"""Seconds between two questions whether the program has taken a change over."""


def parameters(
    job: Job,
    history: Annotated[bool, typer.Option("--history", help="List changes instead, oldest first.")] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List parameters that the program of a job lets be changed while it runs, with their values.

    Help, Publishing and steering, says how a program declares them.
    """

    async def work(client: BrokerClient) -> int:
        from broker_core.jobs.published.recording import Recording

        known = Recording()
        await _read(client, (await resolve(client, [job]))[0], known)
        (_list_changes if history else _list)(known.steering)
        return Exit.OK

    return with_client(work)


def set_parameters(
    job: Job,
    changes: Annotated[list[str], typer.Argument(help="Names with new values.", metavar="NAME=VALUE...")],
    wait: Annotated[bool, typer.Option("--wait", help="Until the program has taken them over.")] = False,
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Change parameters of a running program.

    Also of batch jobs: an agent is brought there, which takes a few seconds. With --wait it ends with 1 if
    the program refuses a value, or ends before.
    """

    async def work(client: BrokerClient) -> int:
        from broker_core.jobs.published.recording import Recording

        whole, known = (await resolve(client, [job]))[0], Recording()
        await _read(client, whole, known)
        wanted = _wanted(changes, known.steering)
        async with beside(client, job, direct_ports) as opened:
            numbers = await _send(opened, wanted)
        if wait:
            await _until_taken(client, whole, known, numbers)
        return Exit.OK

    return with_client(work)


async def _read(client: BrokerClient, job: str, into: Recording) -> None:
    """Read what was published since; raises what the broker says."""
    from broker_core.jobs.published.records import FILE

    while not into.full:
        try:
            part = await client.read_file(job, FILE, into.position, _PART)
        except NotFound:
            await client.job(job)
            return
        into.feed(part.content)
        if not part.content:
            return


def _wanted(changes: Sequence[str], known: ParameterHistory) -> dict[str, str]:
    """Names and values, checked; raises BadRequest and BadValue."""
    from broker_core.jobs.published.parameters import text_of

    found = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise BadRequest("A change is NAME=VALUE.", place=change, code="usage")
        parameter = known.parameters.get(name)
        if parameter is None:
            names = ", ".join(map(output.printable, known.parameters))
            remedy = f"It has {names}." if names else "Its program has declared none so far."
            raise BadRequest("The job has no such parameter.", place=name, remedy=remedy)
        found[name] = text_of(parameter.read(value))
    return found


async def _send(opened: ShadowSession, wanted: dict[str, str]) -> dict[str, int]:
    """Have all of them changed; returns the numbers of the changes."""
    steering = opened.forwards.steering
    over = asyncio.ensure_future(_until_over(opened))
    try:
        numbers = {}
        for name, value in wanted.items():
            sending = asyncio.ensure_future(steering.set(name, value))
            await asyncio.wait((sending, over), return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                sending.cancel()
                raise CrossDeskError("The job has ended, or takes no changes.", place=name)
            numbers[name] = sending.result()
        return numbers
    finally:
        over.cancel()


async def _until_over(opened: ShadowSession) -> None:
    async for _ in opened.events():
        pass


async def _until_taken(client: BrokerClient, job: str, known: Recording, numbers: dict[str, int]) -> None:
    """Wait for the program's word on each change; raises CrossDeskError where it refused or ended."""
    steering = known.steering
    while True:
        row = (await client.job(job)).row
        await _read(client, job, known)
        waiting = [name for name, number in numbers.items() if steering.taken.get(name, 0) < number]
        if not waiting:
            break
        if row["ended"] is not None:
            raise CrossDeskError("The job has ended and had not taken the change.", place=waiting[0])
        await asyncio.sleep(_PAUSE)
    for change in steering.changes:
        if change.refused and numbers.get(change.name) == change.change:
            raise CrossDeskError(f"The program refused it. {change.refused}", place=change.name)


def _list(known: ParameterHistory) -> None:
    from broker_core.jobs.published.parameters import text_of

    if session().json:
        output.as_json([_plain(one) for one in known.parameters.values()])
        return
    found = list(known.parameters.values())
    rows = [[one.name, text_of(one.value), one.unit, one.range_text()] for one in found]
    if rows:
        table(("NAME", "VALUE", "UNIT", "TAKES"), rows)
    else:
        output.say("The program has declared no parameters so far.")


def _plain(one: Any) -> dict[str, Any]:
    names = ("name", "type", "value", "minimum", "maximum", "unit")
    return {name: getattr(one, name) for name in names} | {"choices": list(one.choices)}


def _list_changes(known: ParameterHistory) -> None:
    from broker_core.jobs.published.parameters import text_of

    if session().json:
        names = ("name", "time", "by", "before", "after", "x", "refused")
        output.as_json([{name: getattr(one, name) for name in names} for one in known.changes])
        return
    rows = [
        [
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.time)),
            one.by,
            one.name,
            text_of(one.before),
            one.refused or text_of(one.after),
        ]
        for one in known.changes
    ]
    if rows:
        table(("TIME", "BY", "NAME", "FROM", "TO"), rows)
    else:
        output.say("No parameter was changed so far.")
