"""A way to a server that can lose an answer: what was asked arrives, what is answered does not."""

from __future__ import annotations

import asyncio
import contextlib


class CuttingRelay:
    """Passes bytes between clients and a port of this machine."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.lose_next = False
        """The next answer is lost, and its connection with it."""
        self.lost = 0
        self.may_pass = asyncio.Event()
        """Cleared, nothing moves any more, though connections stay."""
        self.may_pass.set()

    async def start(self) -> int:
        """Begin; returns the port to use instead."""
        self._server = await asyncio.start_server(self._begin, "localhost", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Cut all connections."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._pass(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("localhost", self._target)
        asked = asyncio.create_task(self._copy(reader, far_writer, answers=False))
        answered = asyncio.create_task(self._copy(far_reader, writer, answers=True))
        try:
            await asyncio.wait((asked, answered), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asked, answered):
                task.cancel()
            await asyncio.gather(asked, answered, return_exceptions=True)
            for end in (writer, far_writer):
                end.close()
                with contextlib.suppress(OSError):
                    await end.wait_closed()

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool
    ) -> None:
        while data := await reader.read(1 << 16):
            await self.may_pass.wait()
            if answers and self.lose_next:
                self.lose_next = False
                self.lost += 1
                return
            writer.write(data)
            await writer.drain()
