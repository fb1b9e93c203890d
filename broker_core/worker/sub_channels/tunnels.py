"""Tunnels of desks: each leads to an SSH server of its own, and both stay while connections come and go."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import BadFrame, word
from broker_core.interactive.channel.tunnel import TunnelChannel, TunnelEnd

log = logging.getLogger("crossdesk.agent")
MOST = 64
"""Tunnels at the same time."""
ABANDONED = 24 * 3600.0
"""Seconds without its desk after which a tunnel ends."""


@dataclass(frozen=True, slots=True)
class TunnelPass:
    """Who may log in at the end of a tunnel: its own key counts as the desk's, as long as that is known."""

    key: bytes
    """Public part of the key pair that the desk's SSH clients use."""
    desk: bytes
    """Public part of the key with which the desk opened the tunnel."""


class AgentTunnel:
    """One tunnel with its SSH server."""

    def __init__(self, end: TunnelEnd, desk: bytes, serving: asyncio.Future[None]) -> None:
        self.end, self.desk, self.serving = end, desk, serving
        self.alone: asyncio.TimerHandle | None = None
        """Runs while no connection carries it."""


class AgentTunnels:
    """All tunnels of one agent."""

    def __init__(self, serve: Callable[[socket.socket, TunnelPass], Awaitable[None]], host_key: str) -> None:
        """`serve` speaks SSH on a socket until it ends; `host_key`: the public key that it shows."""
        self._serve, self._host_key = serve, host_key
        self._tunnels: dict[str, AgentTunnel] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def channel(self, desk: bytes) -> TunnelChannel:
        """What takes a tunnel's frames on a new channel of this desk."""
        return TunnelChannel(partial(self._met, desk))

    def close(self) -> None:
        """End all."""
        for task in self._tasks:
            task.cancel()

    def _met(self, desk: bytes, channel: TunnelChannel, message: dict[str, Any]) -> None:
        """Begin a tunnel, or go on with one; raises BadFrame, KeyError and ValueError."""
        name, had = str(message["id"]), int(message["had"])
        if not 16 <= len(name) <= 64:
            raise BadFrame("the tunnel has no name")
        known = self._tunnels.get(name)
        if known is None and (had or message.get("again")):
            self._refuse(channel, "The session over there has ended.")
        elif known is None and len(self._tunnels) >= MOST:
            self._refuse(channel, f"{MOST} sessions are open already.")
        elif known is None:
            given = TunnelPass(_public(str(message["key"])), desk)
            task = asyncio.ensure_future(self._run(name, given, channel))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif known.desk != desk:
            raise BadFrame("the tunnel is another desk's")
        else:
            self._resume(known, channel, had)

    async def _run(self, name: str, given: TunnelPass, channel: TunnelChannel) -> None:
        """A tunnel from its first connection to its end."""
        near, far = socket.socketpair()
        serving = asyncio.ensure_future(self._serve(far, given))
        reader, writer = await asyncio.open_connection(sock=near)
        tunnel = self._tunnels[name] = AgentTunnel(TunnelEnd(reader, writer), given.desk, serving)
        try:
            self._resume(tunnel, channel, 0)
            await tunnel.end.over.wait()
        finally:
            del self._tunnels[name]
            if tunnel.alone is not None:
                tunnel.alone.cancel()
            await tunnel.end.close()
            serving.cancel()
            await asyncio.wait([serving])

    def _resume(self, tunnel: AgentTunnel, channel: TunnelChannel, had: int) -> None:
        if tunnel.alone is not None:
            tunnel.alone.cancel()
            tunnel.alone = None
        channel.send(word("welcome", had=tunnel.end.arrived, key=self._host_key))
        channel.belong(tunnel.end, had)
        channel.lost.add_done_callback(lambda _: self._left_alone(tunnel))

    def _left_alone(self, tunnel: AgentTunnel) -> None:
        if not (tunnel.end.over.is_set() or tunnel.end.linked or tunnel.alone is not None):
            tunnel.alone = asyncio.get_running_loop().call_later(ABANDONED, tunnel.end.over.set)

    def _refuse(self, channel: TunnelChannel, reason: str) -> None:
        channel.send(word("refused", reason=reason))
        channel.close()


def _public(text: str) -> bytes:
    return asyncssh.import_public_key(text).public_data
