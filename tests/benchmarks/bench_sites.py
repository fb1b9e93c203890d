"""A thousand jobs over two real Slurm clusters beside plain sbatch; one look at ten thousand live jobs."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from broker_core.sites.adapter import Launch
from broker_core.sites.batch.parcel import Group, SitePlace, order_text
from broker_core.sites.batch.shell_adapter import ShellAdapter
from broker_core.sites.batch.site_home import Home
from broker_core.sites.batch.slurm import Slurm as SlurmSystem
from broker_core.sites.batch.system import BatchJob
from broker_core.sites.contract import Attempt, Ended, InputFile, LaunchOrder, Notice
from broker_core.sites.link import Link
from broker_core.sites.making import site_for
from broker_core.sites.remote_settings import RemoteSettings
from broker_core.sites.transport.factory import transport_for
from broker_core.wire.sites import SiteSpec
from broker_core.worker.script import runner_path, starter_path
from tests.benchmarks.figure import Figure
from tests.testbed.slurm import Cluster, Slurm

JOBS = int(os.environ.get("BENCH_SITES_JOBS", "1000"))
LIVE = 10_000
CLIENTS = 4
_CPUS = 32


def measure() -> list[Figure]:
    """Ratios of wall times, and seconds for a look."""
    with tempfile.TemporaryDirectory(prefix="cd-sites-") as base:
        bed = Slurm(Path(base) / "bed", ("a", "b"), nodes=2, cpus=_CPUS)
        try:
            bed.start()
            return [*_throughput(bed, Path(base)), *asyncio.run(_look(bed.clusters["a"], Path(base)))]
        finally:
            bed.close()


def _throughput(bed: Slurm, base: Path) -> list[Figure]:
    figures = []
    for kind, arrays in (("single jobs", False), ("arrays", True)):
        source = base / f"source-{arrays}"
        source.mkdir()
        plain = _plain(bed, _orders(source, arrays), base / f"plain-{arrays}", arrays)
        ours = asyncio.run(_ours(bed, _orders(source, arrays), base / f"ours-{arrays}"))
        figures += [
            Figure(f"{JOBS} {kind}: plain sbatch from {CLIENTS} clients", round(plain, 2), "s"),
            Figure(f"{JOBS} {kind}: through two sites", round(ours, 2), "s"),
            Figure(f"{JOBS} {kind}: ratio", round(ours / plain, 3), "", at_most=1.2),
        ]
    return figures


def _orders(source: Path, arrays: bool) -> list[LaunchOrder]:
    """Small jobs with one input and one output file, half of them for each cluster."""
    data = source / "data"
    data.write_text("b\na\n" * 50)
    plain = LaunchOrder(
        attempt=Attempt("", 1),
        cpus=1,
        executable="sh",
        arguments="-c 'sort data >sorted'",
        environment=(),
        stdin="",
        stdout="std.out",
        stderr="std.err",
        inputs=(InputFile("data", data, False),),
        outputs=("sorted",),
    )
    kind = time.time_ns()
    return [
        replace(
            plain,
            attempt=Attempt(f"job{kind}x{number}", 1),
            ce=f"{'ab'[number % 2]}:22/jobmanager-slurm-main",
            # Needs that differ keep jobs from becoming an array.
            wall_limit=600.0 if arrays else 600.0 + number / 1000,
        )
        for number in range(JOBS)
    ]


# --- plain sbatch


def _plain(bed: Slurm, orders: Sequence[LaunchOrder], folder: Path, arrays: bool) -> float:
    """Seconds until the output of every job is back, by clients that do nothing else."""
    for part in ("attempts", "groups", "news", "back"):
        (folder / part).mkdir(parents=True)
    places = {
        name: SitePlace(
            Home(str(folder), "", 0, 0), str(starter_path()), str(runner_path()), "p", (), {}, 30, 0
        )
        for name in bed.clusters
    }
    shares = [[one for one in orders if one.ce.startswith(f"{name}:")] for name in bed.clusters]
    begin = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        tasks = []
        for share in shares:
            name = share[0].ce.partition(":")[0]
            for part in range(CLIENTS // len(shares)):
                mine = share[part :: CLIENTS // len(shares)]
                tasks.append(clients.submit(_client, bed.clusters[name], mine, places[name], arrays))
        for task in tasks:
            task.result()
    return time.perf_counter() - begin


def _client(cluster: Cluster, orders: Sequence[LaunchOrder], place: SitePlace, arrays: bool) -> None:
    """Stages and submits, then waits for the ends and brings the output."""
    for group in [orders] if arrays else [[one] for one in orders]:
        for order in group:
            _stage(order, place)
        _sbatch(cluster, Group(group[0].attempt.tag, tuple(Launch(one, "main") for one in group)), place)
    pause = threading.Event()
    for order in orders:
        attempt = Path(place.home.path) / "attempts" / order.attempt.tag
        while not (attempt / "ended").exists():
            pause.wait(0.02)
        back = Path(place.home.path) / "back" / order.attempt.tag
        back.mkdir()
        subprocess.run(
            ["cp", *(str(attempt / "job" / name) for name in ("sorted", "std.out", "std.err")), str(back)],
            check=True,
        )


def _stage(order: LaunchOrder, place: SitePlace) -> None:
    attempt = Path(place.home.path) / "attempts" / order.attempt.tag
    (attempt / "job").mkdir(parents=True)
    (attempt / "order").write_text(order_text(order, place))
    for file in order.inputs:
        shutil.copy(file.path, attempt / "job" / file.name)


def _sbatch(cluster: Cluster, group: Group, place: SitePlace) -> None:
    folder = Path(place.home.path) / "groups" / group.name
    folder.mkdir()
    (folder / "list").write_text("".join(f"{tag}\n" for tag in group.tags))
    index = "${SLURM_ARRAY_TASK_ID:-0}"
    words = f"{place.runner} {place.home.path} {group.name} {index}"
    (folder / "run").write_text(f"#!/bin/sh\nexec /bin/sh {words}\n")
    job = BatchJob(f"p.{group.name}", str(folder / "run"), 1, "main", 900.0, count=len(group.launches))
    command = SlurmSystem().submit(job).replace(" --hold", "")
    subprocess.run(
        ["/bin/sh", "-c", command], env=os.environ | cluster.environment, check=True, capture_output=True
    )


# --- through sites


async def _ours(bed: Slurm, orders: Sequence[LaunchOrder], folder: Path) -> float:
    """Seconds until the end of every job is reported, with its output here."""
    ended: set[str] = set()
    over = asyncio.Event()

    def heard(notice: Notice) -> None:
        if isinstance(notice, Ended):
            if notice.exit_code != 0 or notice.failure:
                raise RuntimeError(f"a job failed: {notice}")
            ended.add(notice.attempt.tag)
            if len(ended) == len(orders):
                over.set()

    sites = {}
    for name, cluster in bed.clusters.items():
        site = site_for(_spec(name, cluster, folder / f"at-{name}"), folder / name, "m1", lambda _: None)
        await site.start(heard, ())
        sites[name] = site
    begin = time.perf_counter()

    async def one_job(order: LaunchOrder) -> None:
        site = sites[order.ce.partition(":")[0]]
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
        poll_interval=0.5,
    )


# --- one look


async def _look(cluster: Cluster, base: Path) -> list[Figure]:
    """The slowest of some looks at jobs that wait in a real Slurm."""
    spec = _spec("far", cluster, base / "live")
    way = transport_for(spec, Link(lambda _: None))
    adapter = ShellAdapter(spec, "m2", way, SlurmSystem(), RemoteSettings())
    await adapter.open()
    template = _orders(base / "source-True", True)[0]
    kind = time.time_ns()
    orders = [replace(template, attempt=Attempt(f"live{kind}x{number}", 1)) for number in range(LIVE)]
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
