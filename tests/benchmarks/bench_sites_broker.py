"""A thousand jobs through a whole broker over two real Slurm clusters, beside plain sbatch."""

# Needs: cluster
from __future__ import annotations

import asyncio
import hashlib
import secrets
import tempfile
import time
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.jobs.states import JobState
from broker_core.wire.sites import SiteSpec
from broker_core.wire.submission import SandboxFile, Submission, SubmissionItem
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.benchmarks.plain_sbatch import CLIENTS, JOBS, clusters, orders_of, plain_seconds
from tests.testbed.slurm import Slurm

_ACTIVE = [state for state in JobState if state.active]
_TEXT = """
Executable = "/bin/sh";
Arguments = "-c 'sort data >sorted'";
StdOutput = "std.out"; StdError = "std.err";
InputSandbox = {"data"}; OutputSandbox = {"std.out", "std.err", "sorted"};
Requirements = other.GlueCEInfoLRMSType == "slurm";
WallTime = 600;
"""


def measure() -> list[Figure]:
    """Wall times of both ways and their ratio, with single jobs and with arrays."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="cd-whole-") as base:
        for kind, arrays in (("single jobs", False), ("arrays", True)):
            folder = Path(base) / kind.replace(" ", "-")
            with clusters(folder / "bed", arrays) as bed:
                figures += asyncio.run(_both(bed, folder, kind, arrays))
    return figures


async def _both(bed: Slurm, base: Path, kind: str, arrays: bool) -> list[Figure]:
    source = base / "source"
    source.mkdir()
    orders = orders_of(source)
    async with running() as (_, client):
        await _add_sites(bed, base, client)
        whole = await _through_broker(client, source / "data")
        for name in bed.clusters:
            await client.remove_site(name)
    plain = await asyncio.to_thread(plain_seconds, bed, orders, base / "plain", arrays)
    return [
        Figure(f"{JOBS} {kind}: plain sbatch from {CLIENTS} clients", round(plain, 2), "s"),
        Figure(f"{JOBS} {kind}: through a broker", round(whole, 2), "s"),
        Figure(f"{JOBS} {kind}: ratio", round(whole / plain, 3), "", at_most=1.2),
    ]


async def _add_sites(bed: Slurm, base: Path, client: BrokerClient) -> None:
    for name, cluster in bed.clusters.items():
        spec = SiteSpec(
            name=name,
            kind="slurm",
            environment=cluster.environment,
            directory=str(base / f"at-{name}"),
        )
        await client.add_site(spec)
    while {site.name for site in await client.sites() if site.ces} < set(bed.clusters):
        await asyncio.sleep(0.1)


async def _through_broker(client: BrokerClient, data: Path) -> float:
    """Seconds from the submission until the output of every job is at the broker."""
    content = data.read_bytes()
    file = SandboxFile(name="data", sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    await client.upload(file.sha256, content)
    values = [str(number) for number in range(JOBS)]
    items = [SubmissionItem(description=_TEXT, files=[file], values=values)]
    begin = time.perf_counter()
    await client.submit(Submission(key=secrets.token_urlsafe(18), items=items))
    while (await client.jobs_page(limit=1, states=_ACTIVE)).total:
        await asyncio.sleep(0.2)
    spent = time.perf_counter() - begin
    done = (await client.jobs_page(limit=1, states=[JobState.DONE])).total
    if done % JOBS or not done:
        raise RuntimeError(f"{done} jobs of {JOBS} are done")
    return spent
