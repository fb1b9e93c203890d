"""Forwards of a session: they stay while connections come and go (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh
from asyncssh.x11 import lookup_xauth

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.frames import DISPLAY_PATH
from broker_core.interactive.channel.x_setup import BadSetup, Setup, read_setup, server_of
from broker_core.interactive.shadow.connecting import LiveConnection
from broker_core.interactive.shadow.joining import join
from broker_core.interactive.shadow.screen import RemoteScreen
from broker_core.interactive.shadow.services import Services
from broker_core.interactive.shadow.session_events import ForwardView
from broker_core.interactive.shadow.socks import BadSocks, SocksTalk
from broker_core.interactive.shadow.steering import Steering

FAREWELL = 2.0
"""Seconds that the far end has to close what is removed."""
SOCKS_TIME = 10.0
"""Seconds that a program has to say where it wants to go."""
Where = tuple[str, int] | str
"""Host and port, or the path of a UNIX socket."""
NO_DISPLAY = "The program was started without a display: its description needs InteractiveX11 = true."


class DeskDisplay:
    """A display of this desk. Its own cookie goes to its X server and nowhere else."""

    def __init__(self, name: str) -> None:
        """`name` as in DISPLAY; raises ValueError for what names no display."""
        self.name = name
        self._server = server_of(name)

    async def open(self, far: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the X server, begun with what a program said on `far`.

        Raises BadSetup and OSError.
        """
        try:
            asked = await read_setup(far.readexactly)
        except (asyncio.IncompleteReadError, asyncssh.Error) as error:
            raise OSError(f"the program said nothing: {error}") from error
        if isinstance(self._server, str):
            reader, writer = await asyncio.open_unix_connection(self._server)
        else:
            reader, writer = await asyncio.open_connection(*self._server)
        host, _, number = self.name.rpartition(":")
        proof = await lookup_xauth(
            asyncio.get_running_loop(), None, host.strip("[]"), number.partition(".")[0]
        )
        writer.write(Setup(asked.order, asked.major, asked.minor, *proof).words())
        return reader, writer


class CannotForward(CrossDeskError):
    """A forward could not be opened."""

    code = "cannot_forward"


@dataclass(eq=False)
class Forward:
    """One forward with its counters."""

    kind: str
    listen: str
    target: str
    open_on: Callable[[asyncssh.SSHClientConnection], Awaitable[asyncssh.SSHListener]] | None = None
    """Opens it at the far end, anew on each connection; None: it listens here."""
    sent: int = 0
    received: int = 0
    connections: int = 0
    problem: str = ""
    server: asyncio.Server | None = None
    far: asyncssh.SSHListener | None = None
    """What listens at the far end of the present connection."""
    path: str = ""
    """Of the socket at which it listens here; empty: a port."""
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
        self._live = LiveConnection()
        self.services = Services(self, changed)
        """What the job offers, reached by forwards as soon as it is opened."""
        self.steering = Steering()
        """Changes of the program's parameters."""
        self.screen = RemoteScreen()
        """The program's virtual screen, for who wants to see it."""

    def views(self) -> tuple[ForwardView, ...]:
        """What there is."""
        return tuple(forward.view() for forward in self._all)

    def find(self, shown: ForwardView) -> Forward | None:
        """The forward that a list shows so; None: it is gone."""
        key = (shown.kind, shown.listen, shown.target)
        return next((one for one in self._all if (one.kind, one.listen, one.target) == key), None)

    async def local(self, listen: Where, target: Where) -> Forward:
        """A port or UNIX socket here leads to one that the node reaches; raises CannotForward."""

        def dial(to: asyncssh.SSHClientConnection) -> Any:
            if isinstance(target, str):
                return to.open_unix_connection(target, encoding=None)
            return to.open_connection(*target, encoding=None)

        forward = Forward(_kind("local", listen, target), "", place_text(target))
        await self._listen(forward, listen, self._far(forward, dial))
        return forward

    async def dynamic(self, listen: Where) -> Forward:
        """A port here at which programs say by SOCKS where on the node's network they want to go."""
        forward = Forward("dynamic", "", "where programs ask for")
        await self._listen(forward, listen, self._asked(forward))
        return forward

    async def remote(self, listen: Where, target: Where) -> Forward:
        """A port of the node's own, or a UNIX socket in the job's directory, leads to one that we reach."""
        forward = Forward(_kind("remote", listen, target), place_text(listen), place_text(target))

        async def near(reader: Any, writer: Any) -> None:
            try:
                own = await _dial(target)
            except OSError as error:
                self._trouble(forward, f"{forward.target}: {error.strerror or error}")
                writer.close()
                return
            await self._join(forward, own, (reader, writer))

        async def opened(connection: asyncssh.SSHClientConnection) -> asyncssh.SSHListener:
            if isinstance(listen, str):
                return await connection.start_unix_server(lambda: near, listen, encoding=None)
            found = await connection.start_server(lambda *_: near, *listen, encoding=None)
            forward.listen = place_text((listen[0], found.get_port()))
            return found

        forward.open_on = opened
        await self._begin(forward)
        return forward

    async def display(self, name: str) -> Forward:
        """Windows of the program are shown on this desk's display; raises CannotForward."""
        try:
            shown = DeskDisplay(name)
        except ValueError as error:
            raise CannotForward(f"There is no such display: {error}.", remedy="Look at DISPLAY.") from error
        forward = Forward("x11", "the program", name)

        async def near(reader: Any, writer: Any) -> None:
            try:
                own = await shown.open(reader)
            except (OSError, BadSetup) as error:
                self._trouble(forward, f"{name}: {error}")
                writer.close()
                return
            await self._join(forward, own, (reader, writer))

        def opened(connection: asyncssh.SSHClientConnection) -> Awaitable[asyncssh.SSHListener]:
            return connection.start_unix_server(lambda: near, DISPLAY_PATH, encoding=None)

        forward.open_on = opened
        await self._begin(forward)
        return forward

    async def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """A new connection is there: open on it what is opened at the far end."""
        self._live.connected(connection)
        for forward in self._all:
            await self._open(forward, connection)
        self.services.connected(connection)
        self.steering.connected(connection)
        self.screen.connected(connection)

    async def remove(self, forward: Forward) -> None:
        """Close a forward with its connections, at the far end too if that answers."""
        await self._drop(forward)
        if forward.far is not None:
            forward.far.close()
            await asyncio.wait([asyncio.ensure_future(forward.far.wait_closed())], timeout=FAREWELL)

    async def _drop(self, forward: Forward) -> None:
        if forward in self._all:
            self._all.remove(forward)
            self._live.wake()
            self._changed()
        if forward.server is not None:
            forward.server.close()
            if forward.path:
                Path(forward.path).unlink(missing_ok=True)
        for task in list(forward.tasks):
            task.cancel()
        await asyncio.gather(*forward.tasks, return_exceptions=True)

    async def close(self) -> None:
        """Close all; what listens at the far end goes with the connection."""
        await self.services.close()
        await self.steering.close()
        await self.screen.close()
        for forward in list(self._all):
            await self._drop(forward)

    async def _listen(self, forward: Forward, listen: Where, accepted: Any) -> None:
        """Listen here; raises CannotForward."""
        try:
            if isinstance(listen, str):
                forward.server = await asyncio.start_unix_server(accepted, listen)
                forward.listen = forward.path = listen
            else:
                forward.server = await asyncio.start_server(accepted, *listen)
                forward.listen = place_text((listen[0], forward.server.sockets[0].getsockname()[1]))
        except OSError as error:
            raise _refused(place_text(listen), error) from error
        self._all.append(forward)
        self._changed()

    async def _begin(self, forward: Forward) -> None:
        """Open a forward at the far end, now if there is a connection, and on every further one."""
        self._all.append(forward)
        self._changed()
        if self._live.connection is not None:
            await self._open(forward, self._live.connection)

    async def _open(self, forward: Forward, connection: asyncssh.SSHClientConnection) -> None:
        forward.far = None
        if forward.open_on is None:
            return
        try:
            forward.far = await forward.open_on(connection)
        except asyncssh.ChannelListenError as error:
            self._trouble(forward, NO_DISPLAY if forward.kind == "x11" else f"The agent refuses it: {error}")
        except (OSError, asyncssh.Error) as error:
            self._trouble(forward, f"The agent refuses it: {error}")
        else:
            self._trouble(forward, "")

    def _trouble(self, forward: Forward, problem: str) -> None:
        forward.problem = problem
        self._changed()

    def _far(self, forward: Forward, dial: Callable[[asyncssh.SSHClientConnection], Awaitable[Any]]) -> Any:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            far = await self._reached(forward, forward.target, dial)
            if far is None:
                writer.close()
                return
            await self._join(forward, (reader, writer), far)

        return accepted

    def _asked(self, forward: Forward) -> Any:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            talk = SocksTalk(reader, writer)
            try:
                async with asyncio.timeout(SOCKS_TIME):
                    wanted = await talk.wanted()
            except (
                OSError,
                EOFError,
                ValueError,
                TimeoutError,
                asyncio.LimitOverrunError,
                BadSocks,
            ) as error:
                self._trouble(forward, f"A program was not understood: {error or type(error).__name__}")
                writer.close()
                return
            far = await self._reached(
                forward, place_text(wanted), lambda to: to.open_connection(*wanted, encoding=None)
            )
            talk.answer(granted=far is not None)
            if far is None:
                writer.close()
                return
            await self._join(forward, (reader, writer), far)

        return accepted

    async def _reached(
        self,
        forward: Forward,
        target: str,
        dial: Callable[[asyncssh.SSHClientConnection], Awaitable[Any]],
    ) -> Any:
        """A connection to a place that the node reaches, or None; then the forward tells why."""
        if self._live.connection is None:
            self._trouble(forward, "Programs that connect wait for the connection to the job.")
        try:
            far = await self._live.open(dial, lambda: forward in self._all)
        except (OSError, asyncssh.Error) as error:
            self._trouble(forward, f"{target}: {error}")
            return None
        self._trouble(forward, "")
        return far

    async def _join(self, forward: Forward, near: tuple[Any, Any], far: tuple[Any, Any]) -> None:
        """See `join`, with the counters of the forward."""

        def count(sent: int, received: int) -> None:
            forward.sent += sent
            forward.received += received
            self._changed()

        forward.connections += 1
        self._changed()
        try:
            await join(near, far, forward.tasks, count)
        finally:
            forward.connections -= 1
            self._changed()


def place_text(where: Where) -> str:
    """As people write it."""
    if isinstance(where, str):
        return where
    return f"[{where[0]}]:{where[1]}" if ":" in where[0] else f"{where[0]}:{where[1]}"


def _kind(kind: str, listen: Where, target: Where) -> str:
    return "socket" if kind == "local" and isinstance(listen, str) and isinstance(target, str) else kind


async def _dial(target: Where) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(target, str):
        return await asyncio.open_unix_connection(target)
    return await asyncio.open_connection(*target)


def _refused(where: str, error: OSError) -> CannotForward:
    why = os.strerror(error.errno) if error.errno else error  # what asyncio says of it is for programmers
    return CannotForward(
        f"It cannot listen here: {why}.",
        place=where,
        remedy="Choose another port or path.",
    )
