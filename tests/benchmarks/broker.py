"""A broker for benchmarks, and ways to put load on it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.system.paths import places
from broker_core.system.priority import BROKER_NICE, session_gives_way
from broker_core.wire.submission import Submission, SubmissionItem
from tests.running import RunningBroker

TRUE = 'Executable = "/bin/true";'
HELD = "benchmark"
"""Reason of a hold: measures submitting without running."""


@asynccontextmanager
async def running() -> AsyncIterator[tuple[RunningBroker, BrokerClient]]:
    """A broker of its own state directory with a client; all its processes end with it."""
    broker = RunningBroker(Path(os.environ["CROSSDESK_STATE_DIR"]))
    await asyncio.to_thread(broker.start)
    session_gives_way(broker.pid, BROKER_NICE)  # as for one that the desk started
    try:
        async with await connect(broker.state_dir, start=False) as client:
            yield broker, client
    finally:
        await asyncio.to_thread(broker.close)


def submission(description: str = TRUE, hold: str = HELD, values: list[str] | None = None) -> Submission:
    """A submission of one item with a new key."""
    item = SubmissionItem(description=description, values=values)
    return Submission(key=secrets.token_urlsafe(18), items=[item], hold=hold)


class RawConnection:
    """The leanest HTTP/1.1 client that can submit: for load that costs the machine little."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls) -> RawConnection:
        """Connect to the broker of the benchmark's state directory."""
        return cls(*await asyncio.open_unix_connection(str(places().socket)))

    async def post(self, path: str, body: bytes) -> bytes:
        """POST JSON and return the body of a good answer."""
        kind = "content-type: application/json"
        head = f"POST /v1{path} HTTP/1.1\r\nhost: b\r\n{kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        headers = await self._reader.readuntil(b"\r\n\r\n")
        length = int(headers.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        answer = await self._reader.readexactly(length)
        if b" 200 " not in headers[:16]:
            raise RuntimeError(f"refused: {headers!r} {answer!r}")
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


def raw_submission(number: int) -> bytes:
    """The body of a submission, made without a model."""
    item = {"description": f'Executable = "/bin/true"; Arguments = "{number}";'}
    return json.dumps({"key": secrets.token_urlsafe(18), "items": [item], "hold": HELD}).encode()
