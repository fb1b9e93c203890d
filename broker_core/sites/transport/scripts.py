"""How scripts are run over any transport: wrapped for the login shell, with a deadline, their noise cut."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping

from broker_core.sites.link import Link
from broker_core.sites.transport.contract import DEADLINE, LinkLost, Reply
from broker_core.sites.transport.exchange import Exchange
from broker_core.sites.transport.script_io import ScriptIO, in_one_piece
from broker_core.sites.transport.shell_wrapper import WrappedScript, wrap


class Scripts(ABC):
    """The calls of `Transport` that run a script; each transport has its own way to bring one through."""

    def __init__(self, link: Link, environment: Mapping[str, str]) -> None:
        """`environment`: exported before each script."""
        self.link = link
        self._environment = dict(environment)

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = DEADLINE) -> Reply:
        """Run a script."""
        return await self._carry(script, in_one_piece(stdin), None, deadline, renewed=False)

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        """Run a script with a long input."""
        return await self._carry(script, chunks, None, deadline, renewed=True)

    async def receive(
        self, script: str, write: Callable[[bytes], None], *, deadline: float = DEADLINE
    ) -> Reply:
        """Run a script with a long output."""
        return await self._carry(script, in_one_piece(b""), write, deadline, renewed=True)

    @abstractmethod
    async def _bring(self, parcel: WrappedScript, chunks: AsyncIterator[bytes], traffic: ScriptIO) -> Reply:
        """Run what was wrapped when its turn comes; raises LinkLost."""

    @abstractmethod
    def _too_late(self, traffic: ScriptIO, deadline: float) -> LinkLost:
        """What it means that the deadline passed."""

    async def _carry(
        self,
        script: str,
        chunks: AsyncIterator[bytes],
        write: Callable[[bytes], None] | None,
        deadline: float,
        *,
        renewed: bool,
    ) -> Reply:
        parcel = wrap(script, self._environment, secrets.token_hex(8))
        traffic = ScriptIO(Exchange(parcel.marker, write), deadline, renewed=renewed)
        try:
            async with traffic.limit:
                reply = await self._bring(parcel, chunks, traffic)
        except TimeoutError as error:
            raise self._too_late(traffic, deadline) from error
        self.link.heard = time.time()
        return reply
