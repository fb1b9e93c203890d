"""Forwards of a session: they stay while connections come and go (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.interactive.session_events import ForwardView

TURN = 64 * 1024


class CannotForward(CrossDeskError):
    """A forward could not be opened."""

    code = "cannot_forward"


@dataclass(eq=False)
class Forward:
    """One forward with its counters."""

    kind: str
    listen: str
    target: str
    open_on: Callable[[asyncssh.SSHClientConnection], Awaitable[Any]] | None = None
    """Opens it at the far end, anew on each connection; None: it listens here."""
    sent: int = 0
    received: int = 0
    connections: int = 0
    problem: str = ""
    server: asyncio.Server | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def view(self) -> ForwardView:
        """As shown in a list."""
        return ForwardView(
            self.kind, self.listen, self.target, self.sent, self.received, self.connections, self.problem
        )


class Forwards:
    """All forwards of a session."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """`changed` is called whenever something in the views changes, which is often."""
        self._changed = changed
        self._all: list[Forward] = []
        self._connection: asyncssh.SSHClientConnection | None = None

    def views(self) -> tuple[ForwardView, ...]:
        """What there is."""
        return tuple(forward.view() for forward in self._all)

    def find(self, shown: ForwardView) -> Forward | None:
        """The forward that a list shows so; None: it is gone."""
        key = (shown.kind, shown.listen, shown.target)
        return next((one for one in self._all if (one.kind, one.listen, one.target) == key), None)

    def _add(self, forward: Forward) -> None:
        self._all.append(forward)
        self._changed()

    async def local(self, listen: tuple[str, int], target: tuple[str, int]) -> Forward:
        """A port here leads to a port that the node reaches; raises CannotForward."""
        forward = Forward("local", "", f"{target[0]}:{target[1]}")
        far = self._far(forward, lambda to: to.open_connection(*target, encoding=None))
        try:
            forward.server = await asyncio.start_server(far, *listen)
        except OSError as error:
            raise _refused(f"{listen[0]}:{listen[1]}", error) from error
        forward.listen = f"{listen[0]}:{forward.server.sockets[0].getsockname()[1]}"
        self._add(forward)
        return forward

    async def socket(self, path: str, target: str) -> Forward:
        """A UNIX socket here leads to one on the node; raises CannotForward."""
        forward = Forward("socket", path, target)
        far = self._far(forward, lambda to: to.open_unix_connection(target, encoding=None))
        try:
            forward.server = await asyncio.start_unix_server(far, path)
        except OSError as error:
            raise _refused(path, error) from error
        self._add(forward)
        return forward

    async def remote(self, port: int, target: tuple[str, int]) -> Forward:
        """A port on the node, for its own processes only, leads to a port that we reach."""
        forward = Forward("remote", f"localhost:{port}", f"{target[0]}:{target[1]}")

        async def near(reader: Any, writer: Any) -> None:
            try:
                own = await asyncio.open_connection(*target)
            except OSError as error:
                self._trouble(forward, f"{forward.target}: {error.strerror or error}")
                writer.close()
                return
            await self._join(forward, own, (reader, writer))

        def accept(*_: Any) -> Any:
            return near

        async def opened(connection: asyncssh.SSHClientConnection) -> None:
            found = await connection.start_server(accept, "localhost", port, encoding=None)
            forward.listen = f"localhost:{found.get_port()}"

        forward.open_on = opened
        self._add(forward)
        if self._connection is not None:
            await self._open(forward, self._connection)
        return forward

    async def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """A new connection is there: open on it what is opened at the far end."""
        self._connection = connection
        for forward in self._all:
            await self._open(forward, connection)

    async def remove(self, forward: Forward) -> None:
        """Close a forward with its connections."""
        if forward in self._all:
            self._all.remove(forward)
            self._changed()
        if forward.server is not None:
            forward.server.close()
        for task in list(forward.tasks):
            task.cancel()
        await asyncio.gather(*forward.tasks, return_exceptions=True)

    async def close(self) -> None:
        """Close all."""
        for forward in list(self._all):
            await self.remove(forward)

    async def _open(self, forward: Forward, connection: asyncssh.SSHClientConnection) -> None:
        if forward.open_on is None:
            return
        try:
            await forward.open_on(connection)
        except (OSError, asyncssh.Error) as error:
            self._trouble(forward, f"The agent refuses it: {error}")
        else:
            self._trouble(forward, "")

    def _trouble(self, forward: Forward, problem: str) -> None:
        forward.problem = problem
        self._changed()

    def _far(self, forward: Forward, dial: Callable[[asyncssh.SSHClientConnection], Awaitable[Any]]) -> Any:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                if self._connection is None:
                    raise OSError("there is no connection to the agent")
                far = await dial(self._connection)
            except (OSError, asyncssh.Error) as error:
                self._trouble(forward, f"{forward.target}: {error}")
                writer.close()
                return
            forward.problem = ""
            await self._join(forward, (reader, writer), far)

        return accepted

    async def _join(self, forward: Forward, near: tuple[Any, Any], far: tuple[Any, Any]) -> None:
        """Carry bytes both ways until both ends are done."""

        def count(sent: int, received: int) -> None:
            forward.sent += sent
            forward.received += received
            self._changed()

        forward.connections += 1
        self._changed()
        ways = [
            asyncio.ensure_future(_carry(near[0], far[1], lambda size: count(size, 0))),
            asyncio.ensure_future(_carry(far[0], near[1], lambda size: count(0, size))),
        ]
        forward.tasks.update(ways)
        try:
            await asyncio.gather(*ways)
        finally:
            forward.connections -= 1
            self._changed()
            for way in ways:
                way.cancel()
                forward.tasks.discard(way)
            for _, writer in (near, far):
                writer.close()


async def _carry(reader: Any, writer: Any, count: Callable[[int], None]) -> None:
    with contextlib.suppress(OSError, asyncssh.Error):
        while data := await reader.read(TURN):
            writer.write(data)
            count(len(data))
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def _refused(where: str, error: OSError) -> CannotForward:
    return CannotForward(
        f"It cannot listen here: {error.strerror or error}.",
        place=where,
        remedy="Choose another port or path.",
    )
