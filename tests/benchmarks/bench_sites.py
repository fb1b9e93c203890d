"""A thousand jobs over two real Slurm clusters beside plain sbatch; one look at ten thousand live jobs."""

# Needs: cluster
from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from broker_core.jobs.attempt_events import AttemptEnded, AttemptReport
from broker_core.jobs.placement import Component
from broker_core.sites.adapter import Launch
from broker_core.sites.batch.slurm import Slurm as SlurmSystem
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.factory import site_for
from broker_core.sites.link import Link
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.shell.adapter import ShellAdapter
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from tests.benchmarks.figure import Figure
from tests.benchmarks.plain_sbatch import CLIENTS, JOBS, clusters, orders_of, plain_seconds
from tests.testbed.slurm import Cluster, Slurm

LIVE = 10_000


def measure() -> list[Figure]:
    """Ratios of wall times, and seconds for a look."""
    with tempfile.TemporaryDirectory(prefix="cd-sites-") as folder:
        base = Path(folder)
        with clusters(base / "without-arrays", arrays=False) as bed:
            figures = _throughput(bed, base / "single", "single jobs", arrays=False)
        with clusters(base / "with-arrays", arrays=True) as bed:
            figures += _throughput(bed, base / "array", "arrays", arrays=True)
            return [*figures, *asyncio.run(_look(bed.clusters["a"], base / "array"))]


def _throughput(bed: Slurm, base: Path, kind: str, *, arrays: bool) -> list[Figure]:
    base.mkdir()
    plain = plain_seconds(bed, orders_of(base), base / "plain", arrays)
    ours = asyncio.run(_ours(bed, orders_of(base), base / "ours"))
    return [
        Figure(f"{JOBS} {kind}: plain sbatch from {CLIENTS} clients", round(plain, 2), "s"),
        Figure(f"{JOBS} {kind}: through two sites", round(ours, 2), "s"),
        Figure(f"{JOBS} {kind}: ratio", round(ours / plain, 3), "", at_most=1.2),
    ]


# --- through sites


async def _ours(bed: Slurm, orders: Sequence[LaunchOrder], folder: Path) -> float:
    """Seconds until the end of every job is reported, with its output here."""
    ended: set[str] = set()
    over = asyncio.Event()

    def heard(notice: AttemptReport) -> None:
        if isinstance(notice, AttemptEnded):
            if notice.exit_code != 0 or notice.failure:
                raise RuntimeError(f"a job failed: {notice}")
            ended.add(notice.component.tag)
            if len(ended) == len(orders):
                over.set()

    sites = {}
    for name, cluster in bed.clusters.items():
        site = site_for(_spec(name, cluster, folder / f"at-{name}"), folder / name, "m1", lambda _: None)
        await site.start(heard, ())
        sites[name] = site
    begin = time.perf_counter()

    async def one_job(order: LaunchOrder) -> None:
        site = sites[order.ce.site]
        await site.submit(order)
        await site.confirm(order.attempt)

    await asyncio.gather(*map(one_job, orders))
    await over.wait()
    spent = time.perf_counter() - begin
    for site in sites.values():
        await site.close()
    return spent


def _spec(name: str, cluster: Cluster, directory: Path) -> SiteSpec:
    return SiteSpec(
        name=name,
        kind="slurm",
        environment=cluster.environment,
        directory=str(directory),
    )


# --- one look


async def _look(cluster: Cluster, base: Path) -> list[Figure]:
    """The slowest of some looks at jobs that wait in a real Slurm."""
    spec = _spec("far", cluster, base / "live")
    way = transport_for(spec, Link(lambda _: None))
    adapter = ShellAdapter(spec, "m2", way, SlurmSystem(), RemoteSettings())
    await adapter.open()
    template = orders_of(base)[0]
    kind = time.time_ns()
    orders = [replace(template, attempt=Component(f"live{kind}x{number}", 1)) for number in range(LIVE)]
    for start in range(0, LIVE, 1000):
        await adapter.submit([Launch(one, "main") for one in orders[start : start + 1000]])
    tags = [one.attempt.tag for one in orders]
    spent = []
    for _ in range(5):
        begin = time.perf_counter()
        polled = await adapter.poll(tags)
        spent.append(time.perf_counter() - begin)
        if len(polled.attempts) != LIVE:
            raise RuntimeError(f"the look found {len(polled.attempts)} jobs of {LIVE}")
    await adapter.close()
    cluster.end_jobs()
    return [Figure(f"one look at {LIVE} live jobs", round(max(spent), 3), "s", at_most=1.0)]
