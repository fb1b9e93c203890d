"""`crossdesk job forward`, `sftp` and `exec`: what an interactive job offers beside its program."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output
from broker_core.command_line.direct_ports import DIRECT_PORTS, DirectPorts, ports_of
from broker_core.command_line.exits import Exit
from broker_core.command_line.ids import Job, resolve
from broker_core.command_line.raw_keys import raw_keys
from broker_core.command_line.session import Json, StateDir, session, with_client
from broker_core.errors import BadRequest, CrossDeskError

if TYPE_CHECKING:
    from broker_core.client.interactive import Session


class FileVerb(StrEnum):
    """What is done with files of a job."""

    LS = "ls"
    GET = "get"
    PUT = "put"
    RM = "rm"


def forward(
    job: Job,
    local: Annotated[
        list[str] | None,
        typer.Option("-L", "--local", help="[ADDRESS:]PORT:HOST:PORT, a port here to one of the node."),
    ] = None,
    remote: Annotated[
        list[str] | None,
        typer.Option("-R", "--remote", help="PORT:HOST:PORT, a port for the job's processes to one here."),
    ] = None,
    socket: Annotated[
        list[str] | None, typer.Option("--socket", help="HERE:THERE, a UNIX socket here to one of the node.")
    ] = None,
    direct_ports: DirectPorts = DIRECT_PORTS,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Forward ports and sockets to an interactive job until it ends, or until Ctrl-C."""
    if not (local or remote or socket):
        raise BadRequest("Nothing is to be forwarded.", remedy="Give -L, -R or --socket.", code="usage")

    here = [_local(text) for text in local or ()]
    there = [_remote(text) for text in remote or ()]
    sockets = [_sockets(text) for text in socket or ()]

    async def work(client: BrokerClient) -> int:
        async with _beside(client, job, direct_ports) as opened:
            for listen, target in here:
                await opened.forwards.local(listen, target)
            for port, target in there:
                await opened.forwards.remote(port, target)
            for path, far in sockets:
                await opened.forwards.socket(path, far)
            _tell(opened)
            async for _ in opened.events():
                pass
        return Exit.OK

    return with_client(work)


def sftp(
    job: Job,
    verb: Annotated[FileVerb, typer.Argument(help="What to do.")],
    names: Annotated[list[str] | None, typer.Argument(help="Names in the job's directory, or here.")] = None,
    direct_ports: DirectPorts = DIRECT_PORTS,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Files of a running interactive job: ls [PATH], get NAME [HERE], put HERE [NAME], rm NAME."""
    given = names or []
    if verb is not FileVerb.LS and not 0 < len(given) <= 2:
        raise BadRequest(f"{verb} takes a name, and perhaps a second one.", code="usage")

    async def work(client: BrokerClient) -> int:
        async with _beside(client, job, direct_ports) as opened:
            await _files(opened, verb, given)
        return Exit.OK

    return with_client(work)


def execute(
    job: Job,
    words: Annotated[list[str] | None, typer.Argument(help="Command and arguments; none: a shell.")] = None,
    x11: Annotated[bool, typer.Option("-X", "--x11", help="Show its windows on your display.")] = False,
    direct_ports: DirectPorts = DIRECT_PORTS,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Run a command in the directory of a running interactive job; ends with its exit code."""
    if x11 and not os.environ.get("DISPLAY"):
        raise BadRequest(
            "There is no display here: DISPLAY is not set.", remedy="Leave out -X.", code="usage"
        )

    async def work(client: BrokerClient) -> int:
        async with _beside(client, job, direct_ports) as opened:
            return await _run(opened, shlex.join(words or ()), x11=x11)

    return with_client(work)


@asynccontextmanager
async def _beside(client: BrokerClient, job: str, direct_ports: str) -> AsyncIterator[Session]:
    from broker_core.client.interactive import SessionOptions, open_session

    options = SessionOptions(attached=False, direct_ports=ports_of(direct_ports))
    opened = await open_session(client, (await resolve(client, [job]))[0], options)
    try:
        await opened.connection()
        yield opened
    finally:
        await opened.close()


async def _files(opened: Session, verb: FileVerb, names: list[str]) -> None:
    import asyncssh

    connection = await opened.connection()
    try:
        async with connection.start_sftp_client() as files:
            if verb is FileVerb.LS:
                await _list(files, names[0] if names else ".")
            elif verb is FileVerb.GET:
                here = names[1] if len(names) > 1 else PurePosixPath(names[0]).name
                await files.get(names[0], here, recurse=True)
            elif verb is FileVerb.PUT:
                there = names[1] if len(names) > 1 else Path(names[0]).name
                await files.put(names[0], there, recurse=True)
            else:
                for name in names:
                    await files.remove(name)
    except (OSError, asyncssh.Error) as error:
        raise CrossDeskError(f"The file could not be had: {error}.", place=", ".join(names)) from error


async def _list(files: object, path: str) -> None:
    found = [one async for one in files.scandir(path)]  # type: ignore[attr-defined]
    shown = sorted((one for one in found if one.filename not in (".", "..")), key=lambda one: one.filename)
    if session().json:
        output.as_json([{"name": one.filename, "size": one.attrs.size} for one in shown])
        return
    for one in shown:
        output.line(f"{one.attrs.size or 0:>14,}  {one.filename}")


async def _run(opened: Session, command: str, *, x11: bool) -> int:
    """A command with our three streams, on a terminal if we are on one."""
    import asyncssh

    connection = await opened.connection()
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    size = shutil.get_terminal_size()
    with raw_keys(0) if terminal else contextlib.nullcontext():
        try:
            process = await connection.create_process(
                command or None,
                term_type=os.environ.get("TERM", "xterm") if terminal else None,
                term_size=(size.columns, size.lines),
                stdin=os.dup(0),
                stdout=os.dup(1),
                stderr=os.dup(2),
                encoding=None,
                x11_forwarding=x11,
            )
        except (asyncssh.ChannelOpenError, ValueError) as error:
            raise CrossDeskError(f"The command could not be started: {error}.") from error
        done = await process.wait(check=False)
    if done.exit_status is not None and done.exit_status >= 0:
        return done.exit_status
    return Exit.ERROR


def _tell(opened: Session) -> None:
    views = opened.forwards.views()
    if session().json:
        output.as_json(
            [
                {"kind": one.kind, "listen": one.listen, "target": one.target, "problem": one.problem}
                for one in views
            ]
        )
        return
    for one in views:
        output.line(f"{one.kind}  {one.listen} -> {one.target}  {one.problem}".rstrip())
    sys.stdout.flush()


def _local(text: str) -> tuple[tuple[str, int], tuple[str, int]]:
    parts = text.split(":")
    if len(parts) == 3:
        parts.insert(0, "127.0.0.1")
    if len(parts) != 4:
        raise BadRequest("A port is forwarded as [ADDRESS:]PORT:HOST:PORT.", place=text, code="usage")
    return (parts[0], _port(parts[1])), (parts[2], _port(parts[3]))


def _remote(text: str) -> tuple[int, tuple[str, int]]:
    parts = text.split(":")
    if len(parts) != 3:
        raise BadRequest("A port of the node is forwarded as PORT:HOST:PORT.", place=text, code="usage")
    return _port(parts[0]), (parts[1], _port(parts[2]))


def _sockets(text: str) -> tuple[str, str]:
    here, colon, there = text.partition(":")
    if not colon:
        raise BadRequest("A socket is forwarded as HERE:THERE.", place=text, code="usage")
    return here, there


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise BadRequest("This is no port.", place=text, code="usage")
    return int(text)
