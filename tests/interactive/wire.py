"""A stretch of network that a test can cut, hold, listen in on and spoil."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from broker_core.interactive.channel.rendezvous import Endpoint

TURN = 64 * 1024


class Wire:
    """Carries TCP connections to a place; everything that passes is shown to `seen` and may be changed."""

    def __init__(self, target: Endpoint, spoil: Callable[[bytes], bytes] = bytes) -> None:
        self._target = target
        self._spoil = spoil
        self._writers: list[asyncio.StreamWriter] = []
        """Two of each connection, the oldest first."""
        self._held: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.seen = bytearray()
        self.keeps = False
        """Keep what passes in `seen`."""
        self.up = True
        self.most_per_second = 0
        """Bytes that each way of a connection carries in a second; 0: as many as there are."""

    async def open(self) -> Endpoint:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        return Endpoint("127.0.0.1", self._server.sockets[0].getsockname()[1])

    def cut(self) -> int:
        """Break every connection at once; returns how many there were."""
        writers, self._writers = self._writers, []
        for writer in writers:
            writer.transport.abort()
        return len(writers) // 2

    def hold(self) -> None:
        """Swallow what passes on the oldest connection from now on: neither end hears of the other again."""
        self._held |= set(self._writers[:2])

    async def close(self) -> None:
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if not self.up:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(self._target.host, self._target.port)
        except (OSError, asyncio.CancelledError):  # canceled: it is closed meanwhile
            writer.transport.abort()
            return
        self._writers += [writer, far_writer]
        try:
            await asyncio.gather(self._carry(reader, far_writer), self._carry(far_reader, writer))
        except asyncio.CancelledError:
            return  # it is closed; before 3.12 Python's servers log a canceled connection as an error
        finally:
            for one in (writer, far_writer):
                if one in self._writers:
                    self._writers.remove(one)
                one.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(TURN):
                if self.keeps:
                    self.seen += data
                if writer not in self._held:
                    writer.write(self._spoil(data))
                if self.most_per_second:
                    await asyncio.sleep(len(data) / self.most_per_second)
                    await writer.drain()
            if writer not in self._held:
                writer.close()
        except OSError:
            if writer not in self._held:
                writer.transport.abort()
