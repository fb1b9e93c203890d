"""Services that a job offers at its node, and their addresses at this desk (CB-I2G-03)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.frames import SERVICES_PATH, BadFrame, FrameReader, read_word
from broker_core.interactive.shadow.session_events import ServiceState, ServiceView

_MOST, _LONGEST = 32, 4096
_PATH = "/?&=#%+,;:@!$'()*~-._"
"""Characters of a path that are passed on as they are."""


class NoService(CrossDeskError):
    """A service that is not there, or not yet."""

    code = "no_service"


class OpenForward(Protocol):
    """A forward that listens here."""

    listen: str


class Opener(Protocol):
    """Opens and removes forwards; `Forwards` does."""

    async def local(self, listen: tuple[str, int], target: tuple[str, int]) -> Any:
        """Listen at a place here for one at the node."""
        ...

    async def remove(self, forward: Any) -> None:
        """Listen there no longer."""
        ...


@dataclass(slots=True)
class Service:
    """One service as the agent told of it last. Path and token are secrets, in no view and no log."""

    view: ServiceView
    port: int
    path: str
    token: str
    forward: OpenForward | None = None


class Services:
    """All services of a session."""

    def __init__(self, forwards: Opener, changed: Callable[[], None]) -> None:
        """`changed` is called whenever the views change."""
        self._forwards, self._changed = forwards, changed
        self._all: dict[str, Service] = {}
        self._removals: set[asyncio.Task[None]] = set()
        self._asking: asyncio.Task[None] | None = None
        self.answered = asyncio.Event()
        """The agent has said what there is, or it cannot."""

    def views(self) -> tuple[ServiceView, ...]:
        """What there is, in the order of the program."""
        return tuple(one.view for one in self._all.values())

    def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """A new connection is there: listen on it, without waiting."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.ensure_future(self._ask(connection))

    async def _ask(self, connection: asyncssh.SSHClientConnection) -> None:
        """Have the agent tell; one of an earlier version has nothing to say."""
        try:
            await connection.create_unix_connection(
                lambda: AgentListener(lambda message: self._take(list(message["services"]))),
                SERVICES_PATH,
                encoding=None,
            )
        except (OSError, asyncssh.Error):
            self.answered.set()

    async def address(self, name: str) -> str:
        """Where a browser of this desk finds a service, with its secrets: for the browser and nobody else.

        Opens a forward where there is none yet. Raises NoService and CannotForward.
        """
        service = self._all.get(name)
        if service is None:
            raise NoService("The job offers no such service.", place=name)
        if service.view.state is not ServiceState.READY:
            why = service.view.problem or f"It is {service.view.state}."
            raise NoService(f"The service cannot be opened. {why}", place=name)
        if service.forward is None:
            service.forward = await self._forwards.local(("127.0.0.1", 0), ("127.0.0.1", service.port))
        path = quote(service.path, safe=_PATH)
        if service.token:
            path, hash_sign, fragment = path.partition("#")
            path += f"{'&' if '?' in path else '?'}{urlencode({'token': service.token})}{hash_sign}{fragment}"
        return f"http://{service.forward.listen}{path}"

    async def close(self) -> None:
        """Listen no longer, and wait for what is being removed."""
        tasks = list(self._removals)
        if self._asking is not None:
            self._asking.cancel()
            tasks.append(self._asking)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, messages: list[dict[str, Any]]) -> None:
        former, self._all = self._all, {}
        for one in messages[:_MOST]:
            service = _service(one)
            before = former.pop(service.view.name, None)
            if before is not None and before.forward is not None:
                if before.port == service.port and service.view.state is ServiceState.READY:
                    service.forward = before.forward
                else:
                    self._remove(before.forward)
            self._all[service.view.name] = service
        for gone in former.values():
            if gone.forward is not None:
                self._remove(gone.forward)
        self.answered.set()
        self._changed()

    def _remove(self, forward: OpenForward) -> None:
        """What listens at the port from now on may be somebody else's."""
        task = asyncio.ensure_future(self._forwards.remove(forward))
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)


class AgentListener(asyncssh.SSHUNIXSession[bytes]):
    """Messages of the agent on a channel of an open connection."""

    def __init__(self, take: Callable[[dict[str, Any]], None]) -> None:
        self._take = take
        self._reader = FrameReader()

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Keep the channel."""
        self._channel = channel

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Take messages; an agent that is not understood is listened to no longer."""
        try:
            for _, content in self._reader.feed(data):
                self._take(read_word(content))
        except (BadFrame, KeyError, TypeError, ValueError, AttributeError):
            self._channel.abort()


def _service(message: dict[str, Any]) -> Service:
    """A service out of a message; raises KeyError, TypeError or ValueError for what is none."""
    port, path, token = (
        int(message["port"]),
        str(message["path"])[:_LONGEST],
        str(message["token"])[:_LONGEST],
    )
    view = ServiceView(
        str(message["name"])[:_LONGEST], ServiceState(message["state"]), str(message["problem"])
    )
    if not path.startswith("/") or not 0 <= port < 1 << 16:
        raise ValueError("no address")
    return Service(view, port, path, token)
