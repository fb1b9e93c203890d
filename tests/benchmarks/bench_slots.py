"""What a slot gives an interactive job on a real cluster: how soon it speaks, and how fast it runs there.

Two programs share a processor as in the thesis (figures 5.5 and 5.6): both are bound to one, and compute.
The machine's own pace changes within minutes by more than is asked for: short turns in a slot and outside
of any follow each other, and each is compared with its neighbours. Both have the same words and variables: by
where these are in its memory a shell computes faster or slower by a tenth.
"""

# Needs: cluster
from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterable, AsyncIterator
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import OutputReceived
from broker_core.wire.sites import SiteSpec
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.broker.jobs import reach
from tests.packaging.agent_build import cached_build
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

_SITE = "alpha"
_STARTS, _BLOCKS, _PAIRS = 9, 5, 6
_ECHO = 'Executable = "/bin/echo"; Arguments = "ready"; Interactive = true;'
_COMPUTES = """#!/bin/sh
cd / && exec env -i PATH=/usr/bin:/bin taskset -c 0 /bin/sh -c '
while read -r word; do
    begin=$(date +%s%N) i=0
    while [ $i -lt 400000 ]; do i=$((i + 1)); done
    echo $(($(date +%s%N) - begin))
done <"$1/turns"' sh "$1"
"""
_OTHER = """#!/bin/sh
exec taskset -c 0 /bin/sh -c '
until [ -e "$1/over" ]; do
    sleep 0.5
    while [ -e "$1/busy" ]; do :; done
done' sh "$1"
"""
_SEEN = 1.5
"""Seconds after which the other program has seen whether it is to compute."""


def measure() -> list[Figure]:
    """Seconds of a glidein's start and of a start in its second slot; ratios of times."""
    with tempfile.TemporaryDirectory(prefix="cd-slots-") as made:
        base = Path(made).resolve()
        bed = Slurm(base / "bed", ("a",), nodes=1, cpus=1)
        try:
            bed.start()
            return asyncio.run(_Slots(base, bed).measure())
        finally:
            bed.close()


class _Slots:
    """One processor, with a glidein whose first slot has a batch job."""

    def __init__(self, base: Path, bed: Slurm) -> None:
        self._base, self._bed = base, bed
        for name, text in (("computes", _COMPUTES), ("other", _OTHER)):
            (base / name).write_text(text, encoding="utf-8")
            (base / name).chmod(0o755)

    async def measure(self) -> list[Figure]:
        state = Path(os.environ["CROSSDESK_STATE_DIR"])
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        agent = (await asyncio.to_thread(cached_build, self._base / "agent")).agent
        (state / "broker.toml").write_text(
            f'glideins = ["{_SITE}"]\nslot_reads = ["{self._base}"]\nagent_program = "{agent}"\n'
        )
        async with running() as (_, client):
            await self._add(client)
            other = f'Executable = "{self._base}/other"; Arguments = "{self._base}"; WallTime = 900;'
            batch, joined = await self._batch(client, other)
            starts = [await self._start(client) for _ in range(_STARTS + 1)][1:]
            alone, beside = await self._computing(client)
            if (await reach(client, batch, "Done"))["exit_code"] != 0:
                raise RuntimeError("the program in the other slot ended before")
            await client.remove_site(_SITE)
        return [
            Figure("batch job runs in a glidein on an idle site after", round(joined, 2), "s", at_most=5.0),
            Figure("submit to first byte in a free slot, median", round(median(starts), 3), "s", at_most=0.3),
            Figure("computation in a slot, ratio to none", round(alone, 3), "", at_most=1.01),
            Figure("the same beside one in the other slot", round(beside, 3), "", at_most=1.3),
        ]

    async def _add(self, client: BrokerClient) -> None:
        environment = self._bed.clusters["a"].environment
        there = str(self._base / "there")
        await client.add_site(SiteSpec(name=_SITE, kind="slurm", environment=environment, directory=there))

        async def known() -> bool:
            return any(site.ces for site in await client.sites() if site.name == _SITE)

        await eventually(known, 60)

    async def _batch(self, client: BrokerClient, text: str) -> tuple[str, float]:
        """A job in the first slot, which has started, and seconds until then; the second slot is offered."""
        begin = time.perf_counter()
        job = await self._submitted(client, text)
        await reach(client, job, "Running")
        spent = time.perf_counter() - begin

        async def offered() -> bool:
            page = (await client.resources_page()).columns
            rows = zip(page["ce"], page["free_cpus"], strict=True)
            here = {ce: count for ce, count in rows if ce.startswith(_SITE)}
            return all(bool(count) is ("/jobmanager-slots-" in ce) for ce, count in here.items())

        await eventually(offered, 60, "no processor is free, and a slot is")
        return job, spent

    async def _start(self, client: BrokerClient) -> float:
        begin = time.perf_counter()
        at, _ = await self._spoken(client, _ECHO)
        return at - begin

    async def _computing(self, client: BrokerClient) -> tuple[float, float]:
        """Ratios of times: in a slot to outside of any, and beside a program that computes to alone."""
        outside = _Turns(self._base / "none")
        text = f'Executable = "{self._base}/computes"; Arguments = "{self._base}/slot"; Interactive = true;'
        slot = _Turns(self._base / "slot")
        process = await asyncio.create_subprocess_exec(
            self._base / "computes", str(outside.folder), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        session = await open_session(client, await self._submitted(client, text))
        alone, beside = list[float](), list[float]()
        async with asyncio.TaskGroup() as readers:
            readers.create_task(outside.read(process.stdout))
            readers.create_task(slot.read(_output(session)))
            for _ in range(_BLOCKS):
                here = [await outside.take()]
                there = list[float]()
                for _ in range(_PAIRS):
                    there.append(await slot.take())
                    here.append(await outside.take())
                alone += [time / mean(around) for time, around in zip(there, pairwise(here), strict=True)]
                (self._base / "busy").touch()
                await asyncio.sleep(_SEEN)
                shared = median([await slot.take() for _ in range(_PAIRS // 2)])
                beside.append(shared / median(there))
                (self._base / "busy").unlink()
                await asyncio.sleep(_SEEN)
            outside.end()
            slot.end()
            (self._base / "over").touch()
        await session.close()
        return median(alone), median(beside)

    async def _submitted(self, client: BrokerClient, text: str) -> str:
        return (await client.submit_prepared(await prepare(text, Path("/")), site=_SITE)).ids[0]

    async def _spoken(self, client: BrokerClient, text: str) -> tuple[float, bytes]:
        """When an interactive job wrote its first byte, and all that it wrote."""
        job = await self._submitted(client, text)
        session = await open_session(client, job)
        at, output = 0.0, b""
        async for event in session.events():
            if isinstance(event, OutputReceived):
                at = at or time.perf_counter()
                output += event.data
        await session.close()
        row = await reach(client, job, "Done", "Aborted")
        if row["exit_code"] != 0 or not at:
            raise RuntimeError(f"{row['state']}: {row['reason']}: {output.decode()}")
        await self._free(client)
        return at, output

    async def _free(self, client: BrokerClient) -> None:
        """Wait until the second slot is offered again, if there is one."""

        async def offered() -> bool:
            glideins = (await client.slots()).glideins
            return all(one.state == "Busy" for one in glideins)

        await eventually(offered, 60)


class _Turns:
    """A program that computes for a moment with each line in its pipe, and costs nothing until then."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        os.mkfifo(folder / "turns")
        self.folder = folder
        self._lines = os.open(folder / "turns", os.O_RDWR)
        self._took: asyncio.Queue[float] = asyncio.Queue()

    async def read(self, output: AsyncIterable[bytes]) -> None:
        """Take what the program writes, until its end."""
        rest = b""
        async for data in output:
            *lines, rest = (rest + data).split(b"\n")
            for line in filter(None, lines):
                self._took.put_nowait(int(line) / 1e9)

    async def take(self) -> float:
        """Seconds of one turn."""
        os.write(self._lines, b"turn\n")
        async with asyncio.timeout(60):
            return await self._took.get()

    def end(self) -> None:
        """Have it end, once it has begun to read."""
        os.close(self._lines)


async def _output(session: ShadowSession) -> AsyncIterator[bytes]:
    async for event in session.events():
        if isinstance(event, OutputReceived):
            yield event.data
