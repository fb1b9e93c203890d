"""A shell in the directory of a running job, beside its program, over a session of its own (CB-I2G-03)."""

from __future__ import annotations

import asyncio

import asyncssh
from PySide6.QtCore import Signal

from app.console.channel import Connect, ConsoleChannel
from broker_core.client.interactive import ShadowSession, Status

SHELL = 'exec "$(command -v bash || echo /bin/sh)" -i'
TERM = "xterm-256color"
_TURN = 64 * 1024


class ShellChannel(ConsoleChannel):
    """The channel of a shell; what it writes and how it ends, as signals."""

    opened = Signal(str)
    """The shell is there, on this node."""
    ended = Signal(str)
    """The shell has ended: how, in words."""

    def __init__(self, connect: Connect, job: str, columns: int, rows: int) -> None:
        super().__init__(connect, job, columns, rows, attached=False)
        self._size = (columns, rows)
        self._process: asyncssh.SSHClientProcess[bytes] | None = None

    def write(self, data: bytes) -> None:
        """Type."""
        self.do(lambda _: self._type_into_shell(data))

    def resize(self, columns: int, rows: int) -> None:
        """The terminal has another size in cells."""
        self.do(lambda _: self._fit(columns, rows))

    def _type_into_shell(self, data: bytes) -> None:
        if self._process is not None:
            self._process.stdin.write(data)

    def _fit(self, columns: int, rows: int) -> None:
        self._size = (columns, rows)
        if self._process is not None:
            self._process.change_terminal_size(columns, rows)

    async def _read(self, session: ShadowSession) -> None:
        telling = asyncio.ensure_future(self._tell(session))
        try:
            self.ended.emit(await self._run_shell(session))
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _tell(self, session: ShadowSession) -> None:
        """Why there is no shell yet."""
        async for event in session.events():
            if isinstance(event, Status):
                self.status.emit(event)

    async def _run_shell(self, session: ShadowSession) -> str:
        """Run one shell to its end; returns how it ended. Raises SessionOver."""
        connection = await session.connection()
        try:
            size = self._size
            self._process = await connection.create_process(
                SHELL, term_type=TERM, term_size=size, encoding=None
            )
            if self._size != size:  # while it was started
                self._process.change_terminal_size(*self._size)
            self.opened.emit(session.status.node)
            while data := await self._process.stdout.read(_TURN):
                await self._room_for(len(data))
                self.output.emit(1, data, False)
            return _end(await self._process.wait(check=False))
        except (OSError, asyncssh.Error) as error:
            return f"The connection broke, and the shell with it: {error}."
        finally:
            self._process = None


def _end(done: asyncssh.SSHCompletedProcess) -> str:
    if done.exit_signal:
        return f"The shell was ended by signal {done.exit_signal[0]}."
    if done.exit_status is None:
        return "The connection broke, and the shell with it."
    return f"The shell has ended with exit code {done.exit_status}."
