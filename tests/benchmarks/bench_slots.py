"""What a slot gives an interactive job on a real cluster: how soon it speaks, and how fast it runs there.

Two programs share a processor as in the thesis (figures 5.5 and 5.6): both are bound to one, and compute.
"""

# Needs: cluster
from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session_events import OutputReceived
from broker_core.wire.sites import SiteSpec
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.broker.jobs import reach
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

_SITE = "alpha"
_STARTS, _TURNS = 9, 3
_ECHO = 'Executable = "/bin/echo"; Arguments = "ready"; Interactive = true;'
_COMPUTES = """#!/bin/sh
exec taskset -c 0 /bin/sh -c '
read begin rest </proc/uptime
i=0
while [ $i -lt 4000000 ]; do i=$((i + 1)); done
read end rest </proc/uptime
echo took $begin $end'
"""
_OTHER = """#!/bin/sh
exec taskset -c 0 /bin/sh -c 'while [ ! -e "$1" ]; do :; done' sh "$1"
"""


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
        (state / "broker.toml").write_text(f'glideins = ["{_SITE}"]\nslot_reads = ["{self._base}"]\n')
        async with running() as (_, client):
            await self._add(client)
            bare = median(self._directly() for _ in range(_TURNS))
            idle, joined = await self._batch(
                client, 'Executable = "/bin/sleep"; Arguments = "600"; WallTime = 900;'
            )
            starts = [await self._start(client) for _ in range(_STARTS + 1)][1:]
            alone = await self._computing(client)
            await client.cancel([idle])
            await reach(client, idle, "Canceled")
            gate = self._base / "gate"
            busy, _ = await self._batch(
                client, f'Executable = "{self._base}/other"; Arguments = "{gate}"; WallTime = 900;'
            )
            beside = await self._computing(client)
            gate.touch()
            if (await reach(client, busy, "Done"))["exit_code"] != 0:
                raise RuntimeError("the program in the other slot ended before")
            await client.remove_site(_SITE)
        return [
            Figure("batch job runs in a glidein on an idle site after", round(joined, 2), "s", at_most=5.0),
            Figure("submit to first byte in a free slot, median", round(median(starts), 3), "s", at_most=0.3),
            Figure("computation in a slot, ratio to none", round(alone / bare, 3), "", at_most=1.01),
            Figure("the same beside one in the other slot", round(beside / alone, 3), "", at_most=1.3),
        ]

    async def _add(self, client: BrokerClient) -> None:
        environment = self._bed.clusters["a"].environment
        there = str(self._base / "there")
        await client.add_site(SiteSpec(name=_SITE, kind="slurm", environment=environment, directory=there))

        async def known() -> bool:
            return any(site.ces for site in await client.sites() if site.name == _SITE)

        await eventually(known, 60)

    def _directly(self) -> float:
        """Seconds of the computation, by nobody else started."""
        done = subprocess.run([self._base / "computes"], capture_output=True, check=True)
        return _taken(done.stdout)

    async def _batch(self, client: BrokerClient, text: str) -> tuple[str, float]:
        """A job in the first slot, which has started, and seconds until then; the second slot is offered."""
        begin = time.perf_counter()
        job = (await client.submit_prepared(await prepare(text, Path("/")), site=_SITE)).ids[0]
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

    async def _computing(self, client: BrokerClient) -> float:
        text = f'Executable = "{self._base}/computes"; Interactive = true;'
        return median([_taken((await self._spoken(client, text))[1]) for _ in range(_TURNS)])

    async def _spoken(self, client: BrokerClient, text: str) -> tuple[float, bytes]:
        """When an interactive job wrote its first byte, and all that it wrote."""
        job = (await client.submit_prepared(await prepare(text, Path("/")), site=_SITE)).ids[0]
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


def _taken(output: bytes) -> float:
    begin, end = output.partition(b"took ")[2].split()[:2]
    return float(end) - float(begin)
