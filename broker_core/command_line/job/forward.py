"""`crossdesk job forward` and `exec`: what an interactive job offers beside its program."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.desk_settings import ports_of
from broker_core.command_line import output
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.forward_forms import DirectPorts, Dynamic, Local, Remote, wishes
from broker_core.command_line.job.ids import Job, resolve
from broker_core.command_line.job.raw_keys import raw_keys
from broker_core.errors import BadRequest, CrossDeskError

if TYPE_CHECKING:
    from broker_core.client.interactive import ShadowSession


def forward(
    job: Job,
    local: Local = None,
    remote: Remote = None,
    dynamic: Dynamic = None,
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Forward ports and sockets to an interactive job until it ends, or until Ctrl-C."""
    asked = wishes(local, remote, dynamic)
    if not asked:
        raise BadRequest("Nothing is to be forwarded.", remedy="Give -L, -R or -D.", code="usage")

    async def work(client: BrokerClient) -> int:
        async with beside(client, job, direct_ports) as opened:
            await asked.open(opened)
            _tell(opened)
            refused = [one for one in opened.forwards.views() if one.problem]
            if len(refused) == len(opened.forwards.views()):
                return Exit.ERROR
            async for _ in opened.events():
                pass
        return Exit.OK

    return with_client(work)


def execute(
    job: Job,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Command and arguments, after `--` if you like; none: a shell.", metavar="COMMAND"
        ),
    ] = None,
    x11: Annotated[bool, typer.Option("-X", "--x11", help="Show its windows on your display.")] = False,
    terminal: Annotated[
        bool | None,
        typer.Option("-t/-T", help="Give it a terminal, or none; if you say neither: as you are on one."),
    ] = None,
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Run a command in the directory of a running interactive job; ends with its exit code.

    Options come before the job, as with ssh; what follows it is the command. One word is a line for the
    shell, with pipes and variables of the node; several words are taken as they are. A command that a signal
    ended gives 128 and the signal's number.
    """
    given = words[1:] if words and words[0] == "--" else words or []
    if given is words and given and given[0].startswith("-"):
        raise BadRequest(
            "Options come before the job.",
            place=given[0],
            remedy="E.g. crossdesk job exec -X JOB -- xterm",
            code="usage",
        )
    if x11 and not os.environ.get("DISPLAY"):
        raise BadRequest(
            "There is no display here: DISPLAY is not set.", remedy="Leave out -X.", code="usage"
        )

    async def work(client: BrokerClient) -> int:
        async with beside(client, job, direct_ports) as opened:
            line = given[0] if len(given) == 1 else shlex.join(given)
            return await _run(opened, line, x11=x11, terminal=terminal)

    return with_client(work)


@asynccontextmanager
async def beside(client: BrokerClient, job: str, direct_ports: str) -> AsyncIterator[ShadowSession]:
    """A session that does not show the program; raises what keeps it from being had."""
    from broker_core.client.interactive import SessionOptions, open_session

    options = SessionOptions(attached=False, direct_ports=ports_of(direct_ports))
    opened = await open_session(client, (await resolve(client, [job]))[0], options)
    try:
        await opened.connection()
        yield opened
    finally:
        await opened.close()


async def _run(opened: ShadowSession, command: str, *, x11: bool, terminal: bool | None) -> int:
    """A command with our three streams, on a terminal if we are on one."""
    import asyncssh

    connection = await opened.connection()
    typed = sys.stdin.isatty() and sys.stdout.isatty()
    wanted = typed if terminal is None else terminal
    size = shutil.get_terminal_size()
    with raw_keys(0) if typed and wanted else contextlib.nullcontext():
        try:
            process = await connection.create_process(
                command or None,
                term_type=os.environ.get("TERM", "xterm") if wanted else None,
                term_size=(size.columns, size.lines),
                stdin=asyncssh.DEVNULL if _nothing_to_read() else os.dup(0),
                stdout=os.dup(1),
                stderr=os.dup(2),
                encoding=None,
                x11_forwarding=x11,
            )
        except (asyncssh.ChannelOpenError, ValueError) as error:
            raise CrossDeskError(f"The command could not be started: {error}.") from error
        with _size_follows(process.change_terminal_size) if typed and wanted else contextlib.nullcontext():
            done = await process.wait(check=False)
    return _code(done.exit_status, done.exit_signal)


def _nothing_to_read() -> bool:
    """Our input is the null device, which no loop can wait for."""
    return os.path.samestat(os.fstat(0), os.stat(os.devnull))


@contextlib.contextmanager
def _size_follows(change: Callable[[int, int], None]) -> Iterator[None]:
    """Tell the command's terminal whenever ours has another size."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, lambda: change(*shutil.get_terminal_size()))
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)


def _code(status: int | None, ended_by: tuple[str, bool, str, str] | None) -> int:
    """As a shell tells it."""
    if ended_by is not None:
        number = getattr(signal, f"SIG{ended_by[0]}", None)
        return 128 + number if number is not None else Exit.ERROR
    return status if status is not None and status >= 0 else Exit.ERROR


def _tell(opened: ShadowSession) -> None:
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
