"""The way to a site over SSH: one connection, used again for every command, several at a time."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from broker_core.sites.link import Link
from broker_core.sites.transport.address import SshAddress, SshFiles
from broker_core.sites.transport.connector import SshConnector
from broker_core.sites.transport.contract import LinkLost, NotSent, Reply
from broker_core.sites.transport.exchange import Exchange
from broker_core.sites.transport.questions import AnswerStore, TooManySessions
from broker_core.sites.transport.retry_policy import RetryPolicy
from broker_core.sites.transport.script_io import ScriptIO, in_one_piece
from broker_core.sites.transport.scripts import Scripts
from broker_core.sites.transport.shell_wrapper import WrappedScript, wrap
from broker_core.sites.transport.ssh_way_back import SshWayBack
from broker_core.sites.transport.way_back import RelayPlace, WayBack

if TYPE_CHECKING:
    from broker_core.sites.transport.dialing import SshRoute


_AGAIN = 0.1
"""Seconds until a session is asked for again that the server should have."""


class SshTransport(Scripts):
    """Runs scripts at an SSH server; connects by itself, again and again, while it is open."""

    def __init__(
        self,
        link: Link,
        address: SshAddress,
        environment: Mapping[str, str],
        at_once: int,
        files: SshFiles,
        patience: RetryPolicy,
    ) -> None:
        """`environment`: exported before each script. `at_once`: most sessions at the same time."""
        super().__init__(link, environment)
        self._address, self._files = address, files
        self._patience = patience
        self._answers = AnswerStore()
        self._keeper: SshConnector[SshRoute] = SshConnector(link, patience, self._dial, self._prove)
        self._turns = asyncio.Semaphore(at_once)
        self._spare = at_once - 1
        """Turns that can be given up if the server takes fewer sessions."""
        self._given_up = 0
        self._back = SshWayBack(self.run, address.host)
        self._turn_back = asyncio.Lock()

    async def way_back(self, relay: RelayPlace, ports: Sequence[int], *, wide: bool) -> WayBack:
        """Have a port at the login host that leads to the relay."""
        async with self._turn_back:
            return await self._back.over(await self._keeper.line(), relay, ports, wide=wide)

    async def open(self) -> None:
        """Begin to connect."""
        self._keeper.start()

    async def close(self) -> None:
        """Give the connection up; calls under way end with LinkLost."""
        await self._keeper.close()

    def answer(self, id: str, value: str) -> None:
        """Answer the link's question."""
        self._answers.give(self.link.question, id, value)
        self._keeper.try_now()

    def connect_now(self) -> None:
        """Try at once; what was declined is asked again."""
        self._answers.ask_again()
        self._keeper.try_now()

    def hurry(self) -> None:
        """See `Transport.hurry`."""
        self._keeper.hurry()

    async def _bring(self, parcel: WrappedScript, chunks: AsyncIterator[bytes], traffic: ScriptIO) -> Reply:
        while True:
            await self._turns.acquire()
            released = True
            try:
                line = await self._keeper.line()
                traffic.sent = True
                return await line.carry(parcel, chunks, traffic)
            except TooManySessions as error:
                traffic.sent = False
                if self._given_up < self._spare:
                    # One of the other sessions has to end first; and from now on there is one fewer.
                    self._given_up += 1
                    released = False
                    self.link.note(f"{error} Fewer commands are sent at once.")
                else:
                    # The session before this one has ended here, and not yet there.
                    await asyncio.sleep(_AGAIN)
            except LinkLost:
                if traffic.sent:
                    self._keeper.doubt()
                raise
            finally:
                if released:
                    self._turns.release()

    def _too_late(self, traffic: ScriptIO, deadline: float) -> LinkLost:
        if not traffic.sent:
            busy = "other commands are under way" if self.link.usable else "there is no connection yet"
            return NotSent(f"The command was not sent within {deadline:g} s: {self.link.reason or busy}")
        self._keeper.doubt()
        return LinkLost(
            f"The command was not answered within {deadline:g} s; it is not known whether it did its work."
        )

    async def _dial(self) -> SshRoute:
        dialing = await asyncio.to_thread(_load)
        patience = self._patience.hurried() if self._keeper.is_hasty else self._patience
        dialer = dialing.SshDialer(
            self._files, self._answers, patience, self._note, self._keeper.ask, self.link.way.add
        )
        line: SshRoute = await dialer.dial(self._address)
        for _ in range(self._given_up):
            self._turns.release()
        self._given_up = 0
        return line

    async def _prove(self, line: SshRoute) -> None:
        """A command of no work; it takes no turn, since those may all wait for the same dead connection."""
        parcel = wrap(":", {}, secrets.token_hex(8))
        traffic = ScriptIO(Exchange(parcel.marker), self._patience.probe, renewed=False)
        try:
            async with traffic.limit:
                await line.carry(parcel, in_one_piece(b""), traffic)
        except TimeoutError as error:
            raise LinkLost(
                f"The server runs no command within {self._patience.probe:g} s.",
                remedy="Its file systems may hang; it is tried again.",
            ) from error
        self.link.heard = time.time()

    def _note(self, words: str) -> None:
        self.link.note(words)


def _load() -> ModuleType:
    """What needs asyncssh, which takes long to import: only for sites with SSH, and in a thread."""
    from broker_core.sites.transport import dialing

    return dialing
