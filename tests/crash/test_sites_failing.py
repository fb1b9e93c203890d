"""Parts of a site fail under a whole broker: the batch system's controller, the SSH server, the disk."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.failing_runs import run, states
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Slurm
from tests.testbed.sshd import Sshd
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


async def test_a_controller_that_is_killed_while_jobs_wait_and_run_loses_none(
    survivor_with_sites: SitesSurvivor, clusters: Slurm, tmp_path: Path
) -> None:
    survivor, cluster = survivor_with_sites, clusters.clusters["a"]
    async with survivor.client() as client:
        await survivor.begin(client)
        running = await survivor.wave(client, ["alpha"], count=4, gate=tmp_path / "gate")
        await run(client, running)
        # Slurm itself forgets what it has not saved; what it then kills is no fault of the broker.
        seen, saved = time.time(), cluster.folder / "state" / "job_state"
        await eventually(lambda: saved.exists() and saved.stat().st_mtime > seen)
        waiting = await survivor.wave(client, ["alpha"], count=3)
        cluster.kill_controller()
        try:
            waiting += await survivor.wave(client, ["alpha"], count=3)
            survivor.kill()
            survivor.wait_for_death()
            await client.info()

            async def told() -> bool:
                return any("does not answer" in line.words for line in await client.site_log("alpha"))

            await eventually(told, 90, "the log of the site says what is wrong")
            (tmp_path / "gate").touch()
        finally:
            cluster.start_controller()
            await eventually(cluster.ready)
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


@pytest.fixture
def behind_ssh(
    clusters: Slurm, isolated: Path, state_dir: Path, trust: Callable[[Sshd, str], None]
) -> Iterator[tuple[SitesSurvivor, Sshd]]:
    """A cluster behind an SSH server that belongs to the test."""
    guardian, cluster = Guardian(isolated), clusters.clusters["b"]
    sshd = Sshd(isolated / "sshd", environment=cluster.environment).start()
    trust(sshd, "far")
    bed = Bed(spec("far", "slurm", isolated / "there", {}, "far"), cluster)
    made = SitesSurvivor(state_dir, isolated / "effects", [bed])
    yield made, sshd
    made.close()
    sshd.close()
    cluster.end_jobs()
    guardian.close()


async def test_an_ssh_server_that_is_killed_again_and_again_loses_nothing(
    behind_ssh: tuple[SitesSurvivor, Sshd], soak: bool, tmp_path: Path
) -> None:
    survivor, sshd = behind_ssh
    async with survivor.client() as client:
        await survivor.begin(client)
        for number in range(20 if soak else 3):
            gate = tmp_path / f"gate{number}"
            jobs = await survivor.wave(client, count=3, gate=gate)
            sshd.kill()

            async def lost() -> bool:
                return (await survivor.view(client, "far")).link.state != "connected"

            await eventually(lost)
            assert await states(client, jobs) <= {"Waiting", "Ready", "Scheduled", "Running"}
            gate.touch()
            sshd.start()
            await survivor.known(client)
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


@pytest.fixture
def small(clusters: Slurm, isolated: Path, state_dir: Path) -> Iterator[tuple[SitesSurvivor, Path]]:
    """A cluster whose directory for jobs is on a disk of one megabyte."""
    guardian, cluster, disk = Guardian(isolated), clusters.clusters["a"], isolated / "there" / "small"
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
    bed = Bed(spec("small", "slurm", isolated / "there", cluster.environment), cluster)
    made = SitesSurvivor(state_dir, isolated / "effects", [bed])
    try:
        yield made, disk
    finally:
        made.close()
        cluster.end_jobs()
        guardian.close()
        subprocess.run(["umount", "-l", str(disk)], check=True)


async def test_a_full_disk_at_the_site_refuses_with_words_and_loses_nothing(
    small: tuple[SitesSurvivor, Path], tmp_path: Path
) -> None:
    survivor, disk = small
    async with survivor.client() as client:
        await survivor.begin(client)
        running = await survivor.wave(client, gate=tmp_path / "gate")
        await run(client, running)
        ballast = disk / "ballast"
        _fill(ballast)
        refused = await survivor.wave(client)

        async def told() -> bool:
            stories = [await client.events_of(job) for job in refused]
            return all(any("Free some space there" in event.reason for event in story) for story in stories)

        await eventually(told, what="the story says that the disk is full")
        assert await states(client, refused) <= {"Waiting", "Ready"}
        ballast.unlink()
        (tmp_path / "gate").touch()
        faults = await survivor.faults(client, 200)
    assert not faults, "\n".join(faults)


def _fill(ballast: Path) -> None:
    """Take all the room there is."""
    with ballast.open("wb", buffering=0) as file:
        while True:
            try:
                if not file.write(b"\0" * 1024):
                    return
            except OSError:
                assert shutil.disk_usage(ballast.parent).free == 0
                return
