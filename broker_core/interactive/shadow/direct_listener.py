"""A desk that listens: agents of its jobs come to it themselves, from the first connection on (CB-IA-02).

Private unless the desk says otherwise: most desks cannot be called, and those that can need not want it. The
token lets nobody in; keys do, in SSH, whoever comes.
"""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict

from broker_core.interactive.channel.rendezvous import (
    AGENT,
    GO,
    WAIT,
    Endpoint,
    NoRendezvous,
    read_hello,
    read_line,
    refusal,
)
from broker_core.interactive.relay.relay import listen
from broker_core.interactive.relay.settings import RelaySettings

HELLO_TIME = 5.0
"""Seconds that somebody has to say who it is."""
SIGN_OF_LIFE = 30.0
"""Seconds between two signs to agents that wait."""
MOST = 64
"""Connections that may wait; more are sent away."""


class DirectListener:
    """Listens at one port; agents wait until the session of their job expects them."""

    def __init__(self, place: Endpoint) -> None:
        """Listens at once; raises CannotListen."""
        self._door = listen(RelaySettings(address=place.host, port=place.port))
        self._waiting: dict[str, list[socket.socket]] = defaultdict(list)
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._serve())

    async def expect(self, token: str) -> socket.socket:
        """The connection of the agent with this token, on which SSH may begin; waits for it."""
        loop = asyncio.get_running_loop()
        while True:
            while self._waiting.get(token):
                come = self._waiting[token].pop()
                try:
                    await loop.sock_sendall(come, GO)
                except OSError:
                    come.close()
                    continue
                return come
            self._news.clear()
            await self._news.wait()

    async def close(self) -> None:
        """Listen no longer, and send away who waits."""
        tasks = [self._task, *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._door.close()
        for waiting in self._waiting.values():
            for one in waiting:
                one.close()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        signs = loop.create_task(self._signs())
        try:
            while True:
                stranger, _ = await loop.sock_accept(self._door)
                if len(self._tasks) + sum(map(len, self._waiting.values())) >= MOST:
                    stranger.close()
                    continue
                task = loop.create_task(self._greet(stranger))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        finally:
            signs.cancel()

    async def _greet(self, stranger: socket.socket) -> None:
        """Let an agent wait, and send anybody else away."""
        loop, kept = asyncio.get_running_loop(), False
        try:
            stranger.setblocking(False)
            stranger.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            async with asyncio.timeout(HELLO_TIME):
                said = read_hello(await read_line(stranger))
            if said is None or said[0] != AGENT:
                await loop.sock_sendall(stranger, refusal("agents of jobs are expected here"))
                return
            await loop.sock_sendall(stranger, WAIT)
            self._waiting[said[1]].append(stranger)
            kept = True
            self._news.set()
        except (OSError, NoRendezvous, TimeoutError):
            return
        finally:
            if not kept:
                stranger.close()

    async def _signs(self) -> None:
        """Agents that wait are told so now and then; those that are gone are forgotten."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SIGN_OF_LIFE)
            for token, waiting in list(self._waiting.items()):
                for one in list(waiting):
                    try:
                        await loop.sock_sendall(one, WAIT)
                    except OSError:
                        one.close()
                        if one in waiting:
                            waiting.remove(one)
                if not waiting:
                    del self._waiting[token]
