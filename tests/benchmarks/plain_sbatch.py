"""The measure of what goes through sites: plain sbatch of the same starter scripts with the same staging.

Single jobs are what a cluster gets that has its arrays switched off; all else is the same with arrays.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from broker_core.jobs.placement import Component, computing_element
from broker_core.sites.adapter import Launch
from broker_core.sites.batch.slurm import Slurm as SlurmSystem
from broker_core.sites.batch.system import BatchJob
from broker_core.sites.contract import InputFile, LaunchOrder
from broker_core.sites.shell.bundle import ArrayGroup, BundleContext, order_text
from broker_core.sites.shell.workspace import Workspace
from broker_core.worker.script import runner_path, starter_path
from tests.testbed.slurm import Cluster, Slurm

JOBS = int(os.environ.get("BENCH_SITES_JOBS", "1000"))
CLIENTS = 4
CPUS = 32
"""Of each of the two nodes of a cluster."""


@contextmanager
def clusters(base: Path, arrays: bool) -> Iterator[Slurm]:
    """Two clusters, with arrays or without."""
    bed = Slurm(base, ("a", "b"), nodes=2, cpus=CPUS)
    try:
        if not arrays:
            for cluster in bed.clusters.values():
                cluster.most_tasks = 0
        yield bed.start()
    finally:
        bed.close()


def orders_of(source: Path) -> list[LaunchOrder]:
    """Small jobs with one input and one output file, half of them for each cluster."""
    data = source / "data"
    data.write_text("b\na\n" * 50)
    plain = LaunchOrder(
        attempt=Component("", 1),
        cpus=1,
        executable="sh",
        arguments="-c 'sort data >sorted'",
        environment=(),
        stdin="",
        stdout="std.out",
        stderr="std.err",
        inputs=(InputFile("data", data, False),),
        outputs=("sorted",),
        wall_limit=600.0,
    )
    kind = time.time_ns()
    return [
        replace(
            plain,
            attempt=Component(f"job{kind}x{number}", 1),
            ce=computing_element(f"{'ab'[number % 2]}:22/jobmanager-slurm-main"),
        )
        for number in range(JOBS)
    ]


def plain_seconds(bed: Slurm, orders: Sequence[LaunchOrder], folder: Path, arrays: bool) -> float:
    """Seconds until the output of every job is back, by clients that do nothing else."""
    for part in ("attempts", "groups", "news", "back"):
        (folder / part).mkdir(parents=True)
    places = {
        name: BundleContext(
            Workspace(str(folder), "", 0, 0), str(starter_path()), str(runner_path()), "p", (), {}, 30, 0
        )
        for name in bed.clusters
    }
    shares = [[one for one in orders if one.ce.site == name] for name in bed.clusters]
    begin = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        tasks = []
        for share in shares:
            name = share[0].ce.site
            for part in range(CLIENTS // len(shares)):
                mine = share[part :: CLIENTS // len(shares)]
                tasks.append(clients.submit(_client, bed.clusters[name], mine, places[name], arrays))
        for task in tasks:
            task.result()
    return time.perf_counter() - begin


def _client(cluster: Cluster, orders: Sequence[LaunchOrder], place: BundleContext, arrays: bool) -> None:
    """Stages and submits, then waits for the ends and brings the output."""
    for group in [orders] if arrays else [[one] for one in orders]:
        for order in group:
            _stage(order, place)
        _sbatch(cluster, ArrayGroup(group[0].attempt.tag, tuple(Launch(one, "main") for one in group)), place)
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


def _stage(order: LaunchOrder, place: BundleContext) -> None:
    attempt = Path(place.home.path) / "attempts" / order.attempt.tag
    (attempt / "job").mkdir(parents=True)
    (attempt / "order").write_text(order_text(order, place))
    for file in order.inputs:
        shutil.copy(file.path, attempt / "job" / file.name)


def _sbatch(cluster: Cluster, group: ArrayGroup, place: BundleContext) -> None:
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
