"""Changes of a program's parameters, sent to its agent over as many connections as it takes."""

from __future__ import annotations

import asyncio
import getpass
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.frames import PARAMETERS_PATH, word
from broker_core.interactive.shadow.services import AgentListener

_MOST, _LONGEST = 64, 200


class NotSteered(CrossDeskError):
    """A change did not reach the job."""

    code = "not_steered"


@dataclass(frozen=True, slots=True)
class WantedChange:
    """The newest change of one parameter, as the program finds it."""

    number: int
    """Milliseconds since the epoch by the clock of the node."""
    by: str
    name: str
    value: str


class _Request:
    """A change that the agent has not answered."""

    def __init__(self, name: str, value: str, by: str) -> None:
        self.key = secrets.token_urlsafe(12)
        self.about = (by, name, value)
        self.message = word("set", request=self.key, name=name, value=value, by=by)
        self.answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()


class Steering:
    """Sends changes, and knows those that other desks made."""

    def __init__(self) -> None:
        self.changes: dict[str, WantedChange] = {}
        """Name to the newest change, by any desk."""
        self._followers: list[Callable[[], None]] = []
        self._requests: dict[str, _Request] = {}
        self._channel: asyncssh.SSHUNIXChannel[bytes] | None = None
        self._opening: asyncio.Task[None] | None = None

    def follow(self, changed: Callable[[], None]) -> None:
        """Have `changed` called whenever `changes` are others, and now."""
        self._followers.append(changed)
        changed()

    async def set(self, name: str, value: str) -> int:
        """Have a parameter changed; returns the number of the change once the program can find it.

        Over a cut connection it is sent again until the agent has it. Raises NotSteered.
        """
        request = _Request(name, value, f"{getpass.getuser()}@{socket.gethostname()}"[:_LONGEST])
        self._requests[request.key] = request
        self._send(request)
        try:
            return await request.answer
        finally:
            self._requests.pop(request.key, None)

    def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """A new connection is there: go on over it, without waiting."""
        if self._opening is not None:
            self._opening.cancel()
        self._opening = asyncio.ensure_future(self._open(connection))

    async def close(self) -> None:
        """Nothing is sent any more."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        self._refuse("The session has ended.")

    async def _open(self, connection: asyncssh.SSHClientConnection) -> None:
        self._channel = None
        try:
            channel, _ = await connection.create_unix_connection(
                lambda: AgentListener(self._take), PARAMETERS_PATH, encoding=None
            )
        except (OSError, asyncssh.Error):
            if not connection.is_closed():
                self._refuse("The agent at the node takes no changes: it is of an earlier version.")
            return
        self._channel = channel
        for request in list(self._requests.values()):
            self._send(request)

    def _send(self, request: _Request) -> None:
        if self._channel is not None and not self._channel.is_closing():
            self._channel.write(request.message)

    def _refuse(self, reason: str) -> None:
        for request in self._requests.values():
            if not request.answer.done():
                request.answer.set_exception(NotSteered(reason))

    def _take(self, message: dict[str, Any]) -> None:
        """A message of the agent; raises KeyError, TypeError or ValueError for what is none."""
        if message["what"] == "answer":
            request = self._requests.get(str(message["request"]))
            if request is None or request.answer.done():
                return
            if "number" in message:
                number = int(message["number"])
                request.answer.set_result(number)
                self._know([*self.changes.values(), WantedChange(number, *request.about)])
            else:
                request.answer.set_exception(NotSteered(f"The change was not taken: {message['reason']}."))
        elif message["what"] == "changes":
            self._know([_change(one) for one in message["changes"][:_MOST]])

    def _know(self, changes: Sequence[WantedChange]) -> None:
        self.changes = {one.name: one for one in sorted(changes, key=lambda one: one.number)}
        for follower in self._followers:
            follower()


def _change(message: dict[str, Any]) -> WantedChange:
    texts = [str(message[key])[:_LONGEST] for key in ("by", "name", "value")]
    return WantedChange(int(message["number"]), *texts)
