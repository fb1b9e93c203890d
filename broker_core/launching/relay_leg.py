"""The hub's way to a component that reaches a relay and not this machine: both call the relay (CB-GCB-01).

The hub waits there in the role of a desk under the token of the component, which comes as an agent does. The
relay joins the two connections; what it forwards begins with the proofs of both ends, as without it.
"""

from __future__ import annotations

import asyncio
from typing import cast

from broker_core.launching.overlay_hub import Caller, Member, OverlayHub
from broker_core.worker.scripts.overlay_link import token_of

AGAIN = 2.0
"""Seconds before the relay is called anew: it does not answer, or does not let wait for longer."""
DIAL = 10.0
"""Seconds for a call."""
_LINE = 256


class RelayLeg(asyncio.Protocol):
    """One call of a relay, until the component is there."""

    def __init__(self, hub: OverlayHub, member: Member) -> None:
        self._member = member
        self.caller = Caller(hub, member)
        self.over = self.caller.over
        """The connection has ended."""
        self._in = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say who is waited for."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(f"CROSSDESK-MEET 1 desk {token_of(self._member.secret)}\n".encode())

    def data_received(self, data: bytes) -> None:
        """`WAIT` as often as the relay likes, and at last `GO`; anything else is a refusal."""
        self._in += data
        while b"\n" in self._in:
            line, _, self._in = self._in.partition(b"\n")
            if line == b"GO":
                self._transport.set_protocol(self.caller)
                self.caller.connection_made(self._transport)
                if self._in:
                    self.caller.data_received(self._in)
                return
            if line != b"WAIT":
                self._transport.abort()
                return
        if len(self._in) > _LINE:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Nobody came in time, or the relay has ended."""
        self.over.set()


async def meet(hub: OverlayHub, member: Member, host: str, port: int) -> None:
    """Wait for a component at a relay, and carry its frames until it ends."""
    loop = asyncio.get_running_loop()
    while not member.called:
        leg = RelayLeg(hub, member)
        try:
            async with asyncio.timeout(DIAL):
                transport, _ = await loop.create_connection(lambda leg=leg: leg, host, port)  # type: ignore[misc]
        except (OSError, TimeoutError):
            await asyncio.sleep(AGAIN)
            continue
        try:
            await leg.over.wait()
        finally:
            transport.abort()
        if not member.called:
            await asyncio.sleep(AGAIN)
