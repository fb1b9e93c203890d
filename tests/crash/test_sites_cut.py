"""The network to sites is cut without a word: at submission, running and stage-out (reliability case 8)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from tests.crash.failing_runs import run
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.testbed.guardian import Guardian
from tests.testbed.namespaces import Namespaces
from tests.testbed.slurm import Slurm
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
SITE = "far"
SITES = ("cluster", "host")
LARGE = 12_000_000
"""Bytes of output that take some seconds."""


@pytest.fixture
def network() -> Iterator[Namespaces]:
    """A network with one machine in it."""
    made = Namespaces(SITE)
    yield made
    made.close()


@pytest.fixture
def survivor(
    network: Namespaces,
    clusters: Slurm,
    isolated: Path,
    state_dir: Path,
    trust: Callable[[Sshd, str], None],
) -> Iterator[SitesSurvivor]:
    """A cluster and a host, both reached through that machine only."""
    guardian, there, cluster = Guardian(isolated), isolated / "there", clusters.clusters["b"]
    path = _inside(there / "bin")
    sshd = Sshd(
        isolated / "sshd",
        address=network.address(SITE),
        prefix=network.enter(SITE),
        environment=cluster.environment,
    ).start()
    trust(sshd, SITE)
    made = SitesSurvivor(
        state_dir,
        isolated / "effects",
        [
            Bed(spec("cluster", "slurm", there, {"PATH": path}, SITE), cluster),
            Bed(spec("host", "shell", there, own_home(there), SITE)),
        ],
    )
    yield made
    made.close()
    sshd.close()
    cluster.end_jobs()
    guardian.close()


def _inside(folder: Path) -> str:
    """A PATH whose Slurm commands leave the machine's network: its cluster is on another one."""
    folder.mkdir(parents=True)
    for name in ("sbatch", "squeue", "sinfo", "scontrol", "scancel"):
        program = folder / name
        network = f"/proc/{os.getpid()}/ns/net"
        program.write_text(f'#!/bin/sh\nexec nsenter --net={network} -- {shutil.which(name)} "$@"\n')
        program.chmod(0o755)
    return f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin"


class Cut:
    """A cut of the network, and what the broker says and does meanwhile."""

    def __init__(
        self, survivor: SitesSurvivor, client: BrokerClient, network: Namespaces, soak: bool
    ) -> None:
        self._survivor, self._client, self._network = survivor, client, network
        self._seconds = 30.0 if soak else 3.0

    async def during(self, jobs: list[str], *, killed: bool, gate: Path | None = None) -> None:
        """Cut until the broker has noticed, and then some more; no job fails for that.

        `gate` is opened meanwhile: jobs that wait for it end while nobody hears of it.
        """
        self._network.cut(SITE)
        await asyncio.gather(*(self._noticed(name) for name in SITES))
        if killed:
            self._survivor.kill()
            self._survivor.wait_for_death()
            await self._client.info()
        if gate is not None:
            gate.touch()
        await asyncio.sleep(self._seconds)
        for job in jobs:
            detail = await self._client.job(job)
            assert detail.row["state"] in ("Waiting", "Ready", "Scheduled", "Running"), detail
            if detail.row["state"] in ("Scheduled", "Running"):
                assert detail.unheard_since is not None
        self._network.heal(SITE)
        await self._survivor.known(self._client)

    async def _noticed(self, name: str) -> None:
        async def lost() -> bool:
            return (await self._survivor.view(self._client, name)).link.state != "connected"

        await eventually(lost, what=f"the cut to {name} is noticed")


def ways(soak: bool, killed: bool) -> list[bool]:
    """Whether the broker is killed during the cut: both in the long form."""
    return [False, True] if soak else [killed]


async def test_cut_while_jobs_are_handed_over(
    survivor: SitesSurvivor, network: Namespaces, soak: bool
) -> None:
    async with survivor.client() as client:
        await survivor.begin(client)
        cut = Cut(survivor, client, network, soak)
        for killed in ways(soak, True):
            jobs = await survivor.wave(client, count=8)
            await cut.during(jobs, killed=killed)
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


async def test_cut_while_jobs_run(
    survivor: SitesSurvivor, network: Namespaces, soak: bool, tmp_path: Path
) -> None:
    async with survivor.client() as client:
        await survivor.begin(client)
        cut = Cut(survivor, client, network, soak)
        for number, killed in enumerate(ways(soak, False)):
            meanwhile, later = tmp_path / f"meanwhile{number}", tmp_path / f"later{number}"
            jobs = await survivor.wave(client, count=1, gate=meanwhile)
            jobs += await survivor.wave(client, count=1, gate=later)
            await run(client, jobs)
            await cut.during(jobs, killed=killed, gate=meanwhile)
            later.touch()
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


async def test_cut_while_output_is_brought(
    survivor: SitesSurvivor, network: Namespaces, soak: bool, isolated: Path
) -> None:
    source = isolated / "source"
    source.write_bytes(os.urandom(LARGE))
    async with survivor.client() as client:
        await survivor.begin(client)
        cut = Cut(survivor, client, network, soak)
        for killed in ways(soak, True):
            network.rate(SITE, "20mbit")
            jobs = [await survivor.with_file(client, name, source) for name in SITES]
            await eventually(lambda: _arriving(survivor.state_dir))
            await cut.during(jobs, killed=killed)
            network.rate(SITE, "10gbit")
            await survivor.all_ended(client)
            for job in jobs:
                assert await _hash(client, job) == hashlib.sha256(source.read_bytes()).hexdigest()
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


def _arriving(state_dir: Path) -> bool:
    """True while a large file is partly here."""
    for path in state_dir.glob("sites/*/attempts/*/job/large"):
        with suppress(FileNotFoundError):  # it is brought anew
            if 0 < path.stat().st_size < LARGE:
                return True
    return False


async def _hash(client: BrokerClient, job: str) -> str:
    digest = hashlib.sha256()
    async for piece in client.stream_file(job, "large"):
        digest.update(piece)
    return digest.hexdigest()
