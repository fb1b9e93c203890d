"""Commands that a desk runs beside the program, in the job's directory (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import os
import pwd
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import asyncssh

from broker_core.worker.agent_program import STDERR, UserProgram

_TURN = 64 * 1024
_NOT_RUN = 126
PLAIN_SHELL = "/bin/sh"
_NO_SHELLS = {"nologin", "false", "true", "sync"}


def login_shell() -> str:
    """The shell of the account, as sshd takes it; a plain one where that is none that runs commands."""
    try:
        shell = pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return PLAIN_SHELL
    usable = os.access(shell, os.X_OK) and Path(shell).name not in _NO_SHELLS
    return shell if usable else PLAIN_SHELL


async def run_command(
    process: asyncssh.SSHServerProcess[bytes],
    directory: Path,
    environment: Mapping[str, str],
    shell: str = PLAIN_SHELL,
    box: Sequence[str] = (),
) -> None:
    """Run the command that a desk asked for, or a shell, until it ends or the desk goes.

    `box`: the words that come first in the job's box.
    """
    words = [*box, shell, "-c", process.command] if process.command else [*box, shell]
    given = dict(environment)
    if process.term_type:
        given["TERM"] = process.term_type
    columns, rows, _, _ = process.term_size
    try:
        program = UserProgram(
            words,
            given,
            terminal=bool(process.term_type),
            size=(columns or 80, rows or 24),
            directory=directory,
            boxed=bool(box),
        )
    except OSError as error:
        process.stderr.write(f"{error.strerror or error}\n".encode())
        process.exit(_NOT_RUN)
        return
    await _Command(process, program).run()


class _Command:
    """A running command with its channel."""

    def __init__(self, process: asyncssh.SSHServerProcess[bytes], program: UserProgram) -> None:
        self._process = process
        self._program = program
        self._ended = asyncio.Event()
        self._drains: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Carry bytes both ways; tell the exit status when all output is on its way."""
        self._program.run(self._heard, self._ended.set)
        feeding = asyncio.ensure_future(self._feed())
        gone = asyncio.ensure_future(self._process.channel.wait_closed())
        ended = asyncio.ensure_future(self._ended.wait())
        await asyncio.wait([gone, ended], return_when=asyncio.FIRST_COMPLETED)
        feeding.cancel()
        if not ended.done():
            self._program.signal(signal.SIGHUP)
            self._program.kill()
            await ended
        gone.cancel()
        self._program.close()
        self._tell()

    def _tell(self) -> None:
        status = self._program.status
        if self._process.is_closing() or status is None:
            return
        if status >= 0:
            self._process.exit(status)
        else:
            self._process.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))

    def _heard(self, stream: int, data: bytes) -> None:
        if self._process.is_closing():
            return
        writer = self._process.stderr if stream == STDERR else self._process.stdout
        writer.write(data)
        if self._process.channel.get_write_buffer_size() > _TURN and not self._drains:
            self._program.listen(False)
            task = asyncio.ensure_future(self._drain(writer))
            self._drains.add(task)
            task.add_done_callback(self._drains.discard)

    async def _drain(self, writer: asyncssh.SSHWriter[bytes]) -> None:
        try:
            await writer.drain()
        except (OSError, asyncssh.Error):
            return
        self._program.listen(True)

    async def _feed(self) -> None:
        """Input, sizes and signals of the desk."""
        while True:
            try:
                data = await self._process.stdin.read(_TURN)
            except asyncssh.TerminalSizeChanged as changed:
                self._program.resize(changed.width, changed.height)
                continue
            except asyncssh.SignalReceived as received:
                self._program.signal(getattr(signal, f"SIG{received.signal}", signal.SIGTERM))
                continue
            except asyncssh.BreakReceived:
                continue
            if not data:
                self._program.end_input()
                return
            if not self._program.write(data):
                await self._until_hungry()

    async def _until_hungry(self) -> None:
        hungry = asyncio.Event()
        self._program.hungry = hungry.set
        await hungry.wait()
