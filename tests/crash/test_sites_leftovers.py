"""Broker, SSH server and batch daemon die amid cancels and purges: nothing of what is over stays there."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.jobs.states import JobState
from tests.crash.site_checker import Bed, folders_at
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Cluster, Slurm
from tests.testbed.sshd import Sshd, own_home
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]
LONG = 600.0
"""Seconds of a job that ends by its cancel only."""


class Deaths:
    """What dies, at instants that a seed decides; it is started again at once."""

    def __init__(self, survivor: SitesSurvivor, sshd: Sshd, cluster: Cluster, dice: random.Random) -> None:
        self._survivor, self._sshd, self._cluster, self._dice = survivor, sshd, cluster, dice

    async def some(self) -> None:
        """Two deaths, a moment apart; the broker is one of them more often than not."""
        for _ in range(2):
            await asyncio.sleep(self._dice.uniform(0.0, 1.5))
            await self._dice.choice((self._broker, self._broker, self._server, self._controller))()

    async def _broker(self) -> None:
        self._survivor.kill()
        self._survivor.wait_for_death()

    async def _server(self) -> None:
        self._sshd.kill()
        await asyncio.sleep(self._dice.uniform(0.0, 1.0))
        self._sshd.start()

    async def _controller(self) -> None:
        # By SIGKILL it forgets jobs that it has not saved, gives their ids to others, and drains the node for
        # good (“Duplicate jobid”): Slurm's own doing, which test_sites_failing keeps apart from ours.
        self._cluster.kill_controller(signal.SIGTERM)
        self._cluster.start_controller()
        await eventually(self._cluster.ready)


@pytest.fixture
def bed(
    clusters: Slurm, isolated: Path, state_dir: Path, trust: Callable[[Sshd, str], None]
) -> Iterator[tuple[SitesSurvivor, Sshd, Cluster]]:
    """A cluster and a plain host behind an SSH server that belongs to the test."""
    guardian, cluster, there = Guardian(isolated), clusters.clusters["b"], isolated / "there"
    cluster.require_ready()
    sshd = Sshd(isolated / "sshd", environment=cluster.environment).start()
    trust(sshd, "far")
    beds = [
        Bed(spec("cluster", "slurm", there, {}, "far"), cluster),
        Bed(spec("host", "shell", there, own_home(there), "far")),
    ]
    made = SitesSurvivor(state_dir, isolated / "effects", beds)
    yield made, sshd, cluster
    made.close()
    sshd.close()
    cluster.end_jobs()
    guardian.close()


async def test_what_was_to_be_removed_when_the_broker_died_goes_before_its_job_is_purged(
    bed: tuple[SitesSurvivor, Sshd, Cluster],
) -> None:
    survivor, _, _ = bed
    async with survivor.client() as client:
        await survivor.begin(client)
        for site in survivor.beds:
            survivor.kill()
            survivor.wait_for_death()
            survivor.start(f"before:{site}.remove:1")
            await survivor.wave(client, [site], count=3)
            await eventually(lambda: not survivor.is_alive, what="it dies before it removes")
            assert _left(survivor)
            await survivor.revive()
            await survivor.all_ended(client)
            await eventually(lambda: not _left(survivor), what=lambda: f"{_left(survivor)} go")
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("seed", [1])
async def test_no_folder_stays_after_deaths_amid_cancels_and_purges(
    bed: tuple[SitesSurvivor, Sshd, Cluster], soak: bool, seed: int
) -> None:
    """The long form is 1,200 jobs and 120 deaths, the short one 40 jobs and 8 deaths."""
    survivor, sshd, cluster = bed
    dice = random.Random(seed)
    deaths = Deaths(survivor, sshd, cluster, dice)
    async with survivor.client() as client:
        await survivor.begin(client)
        for _ in range(60 if soak else 4):
            short = await survivor.wave(client, count=3, seconds=dice.choice((0.0, 0.5)))
            long = await survivor.wave(client, count=2, seconds=LONG)
            await asyncio.gather(deaths.some(), _use(client, survivor, dice, long))
            assert short
        await survivor.known(client)
        await survivor.all_ended(client, 300)
        done = (await client.jobs_page(limit=5000, states=[JobState.DONE], columns=["id"])).columns["id"]
        await eventually(lambda: not _left(survivor, done), what=lambda: f"{_left(survivor, done)} go")
        await client.purge(list(survivor.accepted))
        survivor.kill()
        survivor.wait_for_death()
        await survivor.known(client)
        await eventually(lambda: not _left(survivor), what=lambda: f"{_left(survivor)} go")


async def _use(client: BrokerClient, survivor: SitesSurvivor, dice: random.Random, long: list[str]) -> None:
    """Cancel these jobs, one after the other, and purge what has ended meanwhile."""
    for job in long:
        await asyncio.sleep(dice.uniform(0.0, 1.0))
        await client.cancel([job])
        outcomes = await client.purge(list(survivor.accepted))
        for purged in [job for job, trouble in outcomes.results.items() if trouble is None]:
            survivor.accepted.pop(purged)


def _left(survivor: SitesSurvivor, jobs: Sequence[str] = ("",)) -> list[str]:
    """What lies at the sites of attempts, or of those of some jobs."""
    found = [one for name, bed in survivor.beds.items() for one in folders_at(bed, survivor.mark(name))]
    return [folder for folder in found if any(job in folder for job in jobs)]
