"""Handing a batch over to a plain host with an input that all jobs share, and with one for each job."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

from broker_core.sites.adapter import Launch
from broker_core.sites.batch.host import Host
from broker_core.sites.contract import InputFile
from broker_core.sites.link import Link
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.shell.adapter import ShellAdapter
from broker_core.sites.transport.contract import DEADLINE, Reply
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from tests.benchmarks.figure import Figure
from tests.sites.remote.failing_transport import Breaking, FailingTransport
from tests.sites.remote.host_far import script

JOBS = 40
SIZE = 20_000_000


class _Counting(FailingTransport):
    sent = 0

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        async def counted() -> AsyncIterator[bytes]:
            async for chunk in chunks:
                self.sent += len(chunk)
                yield chunk

        return await super().send(script, counted(), deadline=deadline)


def measure() -> list[Figure]:
    """Megabytes sent and seconds until all are handed over, both ways."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="cd-inputs-") as base:
        for words, contents in (("shared", 1), ("of its own", JOBS)):
            folder = Path(base) / words.replace(" ", "-")
            folder.mkdir()
            sent, seconds = asyncio.run(_handed_over(folder, contents))
            title = f"{JOBS} jobs with {SIZE // 10**6} MB {words}"
            most = SIZE * contents * 1.02 / 1e6
            figures += [
                Figure(f"{title}: sent", round(sent / 1e6, 2), "MB", at_most=most),
                Figure(f"{title}: handed over in", round(seconds, 2), "s"),
            ]
    return figures


async def _handed_over(folder: Path, contents: int) -> tuple[int, float]:
    spec = SiteSpec(name="far", kind="shell", directory=str(folder / "site"))
    way = _Counting(transport_for(spec, Link(lambda _: None)), Breaking())
    adapter = ShellAdapter(spec, "mark", way, Host(), RemoteSettings())
    files = [_content(folder, number) for number in range(contents)]
    orders = [script("true", inputs=(files[number % contents],)) for number in range(JOBS)]
    await adapter.open()
    began = time.perf_counter()
    answers = await adapter.submit([Launch(order, "default") for order in orders])
    spent = time.perf_counter() - began
    await adapter.cancel([order.attempt.tag for order in orders])
    await adapter.leave([order.attempt.tag for order in orders])
    await adapter.close()
    if not all(isinstance(one, str) for one in answers):
        raise RuntimeError(f"Not all were taken: {answers}")
    return way.sent, spent


def _content(folder: Path, number: int) -> InputFile:
    path = folder / f"content{number}"
    path.write_bytes(raw := os.urandom(SIZE))
    return InputFile("data", path, False, hashlib.sha256(raw).hexdigest())
