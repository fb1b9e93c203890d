"""A message between two sites of one MPI job: by way of the hub on both ways, and by a direct connection."""

# Needs: mpi
from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
from pathlib import Path

from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from tests.benchmarks.figure import Figure
from tests.launching.attempt import ONE, TWO, Job, Linked
from tests.testbed.mpi import installed
from tests.waiting import eventually

_SOURCE = Path(__file__).with_name("ping.c")


def measure() -> list[Figure]:
    """Microseconds of a message one way, megabytes a second, and seconds until the barrier is released."""
    with tempfile.TemporaryDirectory(prefix="cd-overlay-") as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Figure]:
    direct = await _one(folder / "direct", None)
    carried = await _one(folder / "overlay", OverlayWay.NAMESPACE)
    preloaded = await _one(folder / "preload", OverlayWay.PRELOAD)
    return [
        Figure("message of 1 KiB between sites, direct, median", direct[0], "us"),
        Figure("message of 1 KiB between sites, by the hub, median", carried[0], "us"),
        Figure("message of 1 KiB between sites, by the hub and preload, median", preloaded[0], "us"),
        Figure("messages of 4 MiB between sites, direct", direct[1], "MB/s"),
        Figure("messages of 4 MiB between sites, by the hub", carried[1], "MB/s"),
        Figure("messages of 4 MiB between sites, by the hub and preload", preloaded[1], "MB/s"),
        Figure("last component started to barrier released, direct", direct[2], "s", at_most=1),
        Figure("last component started to barrier released, by the hub", carried[2], "s", at_most=1),
        Figure("last component started to barrier released, preload", preloaded[2], "s", at_most=1),
    ]


async def _one(folder: Path, overlay: OverlayWay | None) -> tuple[float, float, float]:
    """Latency, bandwidth, and the time from the start of the last component until the barrier is released."""
    folder.mkdir()
    job = Job(folder, ((1,), (1,)))  # ranks that wait are busy, and would take the processors of the carriers
    program = folder / "ping"
    words = [job.mpich.prefix / "bin/mpicc", "-O2", "-o", program, _SOURCE]
    await asyncio.to_thread(subprocess.run, words, check=True)
    job.mpich = Linked(installed("mpich").prefix, program)
    try:
        await job.start(ONE, overlay=overlay)
        await eventually(lambda: job.gathered() == [ONE])
        await job.start(TWO, overlay=overlay)
        begin = time.perf_counter()
        await eventually(lambda: len(job.gathered()) == 2)
        job.launchers.release(ReleaseBarrier("j", 1))
        spent = time.perf_counter() - begin
        codes = await job.codes()
        if codes != [0, 0]:
            raise RuntimeError(f"{codes}: {job.said(ONE, 'err')} {job.said(TWO, 'err')}")
        latency, rate = map(float, job.said(ONE).split())
        return latency, rate, round(spent, 3)
    finally:
        job.launchers.end(EndLauncher("j", 1))
        await job.launchers.close()
