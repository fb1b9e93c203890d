"""Many short jobs over a real Slurm with 16 pretended processors, in glideins and without.

The aim is nine tenths of the processors' time for 5,000 jobs (`BENCH_GLIDEINS_JOBS`): 144 a second, each of
which may cost the two real processors 14 ms. Without glideins a fifth of them tells as much. The directory
of the site is in memory if it can be: making a directory takes a disk of some machines as long as a program
takes.
"""

# Needs: cluster
from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
import time
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.jobs.states import JobState
from broker_core.wire.sites import SiteSpec
from broker_core.wire.submission import Submission, SubmissionItem
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.testbed.slurm import Slurm

JOBS = int(os.environ.get("BENCH_GLIDEINS_JOBS", "5000"))
_NODES, _CPUS = 2, 8
_SLEEP = 0.1
_LEAST = 0.9
_SITE = "alpha"
_IN_MEMORY = Path("/dev/shm")
_SELDOM, _FEW, _OFTEN = 0.5, 100, 0.05
"""Seconds between two questions whether all are over; an answer takes the broker as long as some jobs."""
_ACTIVE = [state for state in JobState if state.active]
_TEXT = f'Executable = "/bin/sleep"; Arguments = "{_SLEEP}"; WallTime = 60;'


def measure() -> list[Figure]:
    """Jobs a second and the share of the processors' time both ways, and the ratio."""
    figures, rates = [], []
    where = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="cd-glideins-", dir=where) as base:
        bed = Slurm(Path(base) / "bed", ("a",), nodes=_NODES, cpus=_CPUS)
        try:
            bed.start()
            for way, sites, jobs, least in (
                ("without glideins", "", JOBS // 5, None),
                ("in glideins", f'"{_SITE}"', JOBS, _LEAST),
            ):
                spent = asyncio.run(_spent(bed, Path(base) / way.replace(" ", "-"), sites, jobs))
                rates.append(jobs / spent)
                share = jobs * _SLEEP / (_NODES * _CPUS * spent)
                figures += [
                    Figure(f"{jobs} jobs of {_SLEEP} s {way}", round(rates[-1], 1), "/s"),
                    Figure(f"share of the processors' time {way}", round(share, 3), "", at_least=least),
                ]
        finally:
            bed.close()
    return [*figures, Figure("jobs a second, ratio", round(rates[1] / rates[0], 2), "")]


async def _spent(bed: Slurm, folder: Path, sites: str, jobs: int) -> float:
    """Seconds from the submission until all have ended well."""
    folder.mkdir()
    state = Path(os.environ["CROSSDESK_STATE_DIR"])
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    (state / "broker.toml").write_text(f"glideins = [{sites}]\n", encoding="utf-8")
    async with running() as (_, client):
        spec = SiteSpec(
            name=_SITE,
            kind="slurm",
            environment=bed.clusters["a"].environment,
            directory=str(folder / "there"),
        )
        await client.add_site(spec)
        while not any(site.ces for site in await client.sites() if site.name == _SITE):
            await asyncio.sleep(0.1)
        spent = await _through(client, jobs)
        await client.remove_site(_SITE)
        bed.clusters["a"].end_jobs()
    return spent


async def _through(client: BrokerClient, jobs: int) -> float:
    items = [SubmissionItem(description=_TEXT, values=[str(number) for number in range(jobs)])]
    before = (await client.jobs_page(limit=1, states=[JobState.DONE])).total
    begin = time.perf_counter()
    await client.submit(Submission(key=secrets.token_urlsafe(18), items=items, site=_SITE))
    while left := (await client.jobs_page(limit=1, states=_ACTIVE)).total:
        await asyncio.sleep(_SELDOM if left > _FEW else _OFTEN)
    spent = time.perf_counter() - begin
    done = (await client.jobs_page(limit=1, states=[JobState.DONE])).total - before
    if done != jobs:
        others = [state for state in JobState if not state.active and state is not JobState.DONE]
        page = (await client.jobs_page(limit=10, states=others)).columns
        events = [await client.events_of(job) for job in page["id"]]
        reasons = [[event.reason for event in story] for story in events]
        raise RuntimeError(f"{done} jobs of {jobs} are done; of others: {reasons}")
    return spent
