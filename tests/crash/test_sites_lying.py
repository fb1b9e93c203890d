"""A batch system whose list is nonsense or empty: no job is lost for that (reliability case 10)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.failing_runs import run, states
from tests.crash.quick_broker import SETTINGS
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.testbed.guardian import Guardian
from tests.testbed.slurm import Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
_SCRIPT = """#!/bin/sh
# A stand-in for a Slurm that lies: while there is a file `lie` its words are the list.
if [ -e {folder}/lie ]; then echo >>{folder}/told; cat {folder}/lie; else exec {squeue} "$@"; fi
"""


@pytest.fixture
def liar(clusters: Slurm, isolated: Path, state_dir: Path) -> Iterator[tuple[SitesSurvivor, Path]]:
    """A cluster that can be told what to say, and the folder to tell it in."""
    guardian, cluster, folder = Guardian(isolated), clusters.clusters["a"], isolated / "there" / "bin"
    folder.mkdir(parents=True)
    program = folder / "squeue"
    program.write_text(_SCRIPT.format(folder=folder, squeue=shutil.which("squeue")))
    program.chmod(0o755)
    environment = cluster.environment | {"PATH": f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin"}
    bed = Bed(spec("liar", "slurm", isolated / "there", environment), cluster)
    made = SitesSurvivor(state_dir, isolated / "effects", [bed])
    yield made, folder
    made.close()
    cluster.end_jobs()
    guardian.close()


async def test_running_jobs_outlive_a_list_that_lies(
    liar: tuple[SitesSurvivor, Path], tmp_path: Path
) -> None:
    survivor, folder = liar
    async with survivor.client() as client:
        await survivor.begin(client)
        jobs = await survivor.wave(client, gate=tmp_path / "gate")
        await run(client, jobs)
        await _told(folder, "no list at all\n", 3)
        await _told(folder, "", SETTINGS.patience / SETTINGS.slowest)
        survivor.kill()
        survivor.wait_for_death()
        await client.info()
        assert await states(client, jobs) == {"Running"}
        (tmp_path / "gate").touch()
        (folder / "lie").unlink()
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)


async def _told(folder: Path, words: str, times: float) -> None:
    """Let the list be these words so often."""
    told = folder / "told"
    told.write_bytes(b"")
    (folder / "lie").write_text(words)
    await eventually(lambda: len(told.read_bytes()) > times, what="the list is asked for")
