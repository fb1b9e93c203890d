"""A server that answers with what it gets."""

from __future__ import annotations

import asyncio

from tests.waiting import LONG, within


class Echo:
    """A server that says everything again, in capitals."""

    async def __aenter__(self) -> Echo:
        self.server = await asyncio.start_server(self.served, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()

    @staticmethod
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data.upper())
        writer.close()


async def said(host: str, port: int, text: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(text)
    writer.write_eof()
    answer = await within(reader.read(-1), LONG)
    writer.close()
    return answer
