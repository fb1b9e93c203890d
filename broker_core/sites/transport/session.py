"""One script over an SSH connection."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from enum import Enum

import asyncssh

from broker_core.sites.transport.contract import LinkLost, Reply
from broker_core.sites.transport.questions import TooManySessions
from broker_core.sites.transport.script_io import ScriptIO
from broker_core.sites.transport.shell_wrapper import WrappedScript

_KILLED = 20.0
"""Seconds until a command is left to itself."""
_KILLING: set[asyncio.Task[None]] = set()
"""Tasks under way; the event loop itself does not hold them."""


async def carry(
    connection: asyncssh.SSHClientConnection,
    parcel: WrappedScript,
    chunks: AsyncIterator[bytes],
    traffic: ScriptIO,
    patience: float,
) -> Reply:
    """Run a script; `patience`: seconds until the server takes it. Raises LinkLost and TooManySessions."""
    session = _Session(traffic)
    try:
        channel = await _open(connection, session, parcel.command, patience)
        reply = await traffic.carry(channel, parcel.head, chunks)
    finally:
        session.give_up(connection)
    if reply is None:
        raise LinkLost("The connection was lost before the command ended; it is not known whether it ran.")
    return reply


async def _open(
    connection: asyncssh.SSHClientConnection, session: _Session, command: str, patience: float
) -> asyncssh.SSHClientChannel[bytes]:
    opening = asyncio.create_task(
        connection.create_session(
            lambda: session, command, encoding=None, request_pty=False, x11_forwarding=False
        )
    )
    try:
        # Not cancelled with its caller: a session that opens late must be closed, or the server keeps it.
        await asyncio.wait((opening,), timeout=patience)
    finally:
        if not opening.done():
            session.abandon(opening)
    if not opening.done():
        raise LinkLost(f"The server did not take the command within {patience:g} s.")
    try:
        channel, _ = opening.result()
    except asyncssh.ChannelOpenError as error:
        if connection.is_closed():
            raise LinkLost("The connection was lost; it is not known whether the command ran.") from error
        raise TooManySessions(f"The server takes no further session: {error.reason}.") from error
    except (asyncssh.Error, OSError) as error:
        raise LinkLost("The connection was lost; it is not known whether the command ran.") from error
    return channel


class _State(Enum):
    """Who cares for a session."""

    WANTED = "wanted"
    ABANDONED = "abandoned"
    """Nobody waits any more for its opening."""
    LEFT = "left"
    """Nobody waits any more for its command, which is being ended."""
    GONE = "gone"
    """The server has closed it, or the connection is lost."""


class _Session(asyncssh.SSHClientSession[bytes]):
    """Passes on what the connection tells of a command."""

    def __init__(self, traffic: ScriptIO) -> None:
        self._traffic = traffic
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None
        self._state = _State.WANTED
        self._told = asyncio.Event()
        """Something came since the session was left."""

    def abandon(self, opening: asyncio.Task[object]) -> None:
        """Nobody waits any more: close the session as soon as it opens."""
        self._state = _State.ABANDONED
        opening.add_done_callback(lambda task: task.cancelled() or task.exception())

    def give_up(self, connection: asyncssh.SSHClientConnection) -> None:
        """End the session, and its command if that may go on."""
        if self._channel is None or self._state is _State.GONE:
            return
        if self._traffic.status is not None:
            self._channel.abort()
            return
        self._state = _State.LEFT
        with contextlib.suppress(OSError):
            self._channel.kill()
        task = asyncio.create_task(self._kill(connection, self._channel))
        _KILLING.add(task)
        task.add_done_callback(_KILLING.discard)

    async def _kill(
        self, connection: asyncssh.SSHClientConnection, channel: asyncssh.SSHClientChannel[bytes]
    ) -> None:
        """End the command with its process group from another session: many servers pass no signals on.

        It may run long before the number of its shell is heard, so the session is kept until then.
        """
        with contextlib.suppress(asyncssh.Error, OSError, TimeoutError):
            async with asyncio.timeout(_KILLED):
                try:
                    while (pid := self._traffic.exchange.pid) is None and self._state is not _State.GONE:
                        self._told.clear()
                        await self._told.wait()
                finally:
                    channel.abort()
                if pid is not None:
                    # The login shell is the leader of a group, and the command took its place.
                    await connection.run(f"kill -KILL -{pid}", stderr=asyncssh.DEVNULL)

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        self._channel = chan
        if self._state is _State.ABANDONED:
            chan.abort()
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "nobody waits any more")

    def data_received(self, data: bytes, datatype: int | None) -> None:
        is_error = datatype == asyncssh.EXTENDED_DATA_STDERR
        if self._state is not _State.LEFT:
            self._traffic.received(data, is_error=is_error)
        elif not is_error:
            self._traffic.exchange.out_unwanted(data)
            self._told.set()

    def eof_received(self) -> bool:
        return True  # the exit status is still to come, and input may be

    def exit_status_received(self, status: int) -> None:
        self._traffic.exited(status)

    def exit_signal_received(self, name: str, core_dumped: bool, msg: str, lang: str) -> None:
        number = getattr(signal, f"SIG{name}", 0)
        self._traffic.exited(128 + int(number))

    def pause_writing(self) -> None:
        self._traffic.pause_writing()

    def resume_writing(self) -> None:
        self._traffic.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._state = _State.GONE
        self._told.set()
        self._traffic.finished()
