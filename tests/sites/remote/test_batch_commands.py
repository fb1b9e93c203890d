"""How many commands a site's batch system is given, on a real Slurm: centers count them."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path

import pytest

from broker_core.jobs.attempt_events import AttemptWaits
from broker_core.sites.remote.settings import LIST_SOON, ListPace
from broker_core.wire.sites import SiteSpec
from tests.sites.remote.far_site import Far, script
from tests.testbed.daemons import found_program
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

_COMMANDS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo", "sacct", "sacctmgr")
_COUNTER = '#!/bin/sh\necho "${{0##*/}}" >>{log}\nexec {program} "$@"\n'


class Counted:
    """Slurm's commands, each use of which is written down before it is made."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        folder.mkdir()
        self._log = folder / "log"
        self._log.touch()
        for name in _COMMANDS:
            program = found_program(name)
            assert program, name
            counter = folder / name
            counter.write_text(_COUNTER.format(log=self._log, program=program))
            counter.chmod(0o755)
        self.environment = cluster.environment | {"PATH": f"{folder}:{os.environ['PATH']}"}

    def uses(self) -> Counter[str]:
        """Command to how often it was used."""
        return Counter(self._log.read_text().split())


@pytest.fixture
def counted(cluster: Cluster, tmp_path: Path) -> Counted:
    """The commands of the cluster."""
    return Counted(tmp_path / "counted", cluster)


def spec(counted: Counted, tmp_path: Path, **more: object) -> SiteSpec:
    """Settings as they are by themselves, but for what a test needs."""
    fields = {"name": "far", "kind": "slurm", "directory": str(tmp_path / "site")}
    return SiteSpec.model_validate(fields | {"environment": counted.environment} | more)


def test_a_list_is_asked_for_rarely_sooner_while_somebody_waits_and_at_once_when_wanted() -> None:
    pace = ListPace(30.0)
    assert pace.due(0.0, pressing=False)
    pace.was_asked(0.0)
    assert [pace.due(at, pressing=False) for at in (LIST_SOON, 29.0, 30.0)] == [False, False, True]
    assert [pace.due(at, pressing=True) for at in (LIST_SOON - 0.5, LIST_SOON)] == [False, True]
    pace.want(0.1)
    assert pace.due(0.1, pressing=False)
    pace.was_asked(0.05)
    assert pace.due(0.2, pressing=False), "it was wanted while an earlier question was under way"
    pace.was_asked(0.2)
    assert not pace.due(0.3, pressing=False)
    pace.watch(["a", "b"], 20.0)
    pace.watch(["b"], 40.0)
    assert sorted(pace.watched(10.0)) == ["a", "b"]
    assert sorted(pace.watched(30.0)) == ["b"]
    assert not pace.watched(40.0)


@pytest.mark.cluster
async def test_fifty_jobs_take_a_handful_of_commands(
    counted: Counted, cluster: Cluster, tmp_path: Path
) -> None:
    far = await Far(spec(counted, tmp_path), tmp_path / "here").start()
    orders = [script(f"sleep 1; exit {number % 3}") for number in range(50)]
    began = time.monotonic()
    await asyncio.gather(*(far.site.submit(one) for one in orders))
    for one in orders:
        await far.site.confirm(one.attempt)
    codes = [(await far.ended(one.attempt)).exit_code for one in orders]
    spent = time.monotonic() - began
    await far.site.close()
    assert codes == [number % 3 for number in range(50)]
    assert all(far.starts(one.attempt) for one in orders)
    uses = counted.uses()
    # Handed over as arrays, let go together; the list is asked for at the beginning and each half a minute.
    assert uses["sbatch"] <= 4, uses
    assert uses["squeue"] <= 3 + spent // 30, (uses, spent)
    assert uses["scancel"] == 0, uses
    assert uses["scontrol"] <= 10, uses


@pytest.mark.cluster
async def test_why_a_job_waits_is_asked_sooner_while_somebody_looks_at_it(
    counted: Counted, cluster: Cluster, tmp_path: Path
) -> None:
    options = ["--begin=now+1hour"]
    far = await Far(spec(counted, tmp_path, options=options, list_interval=3600.0), tmp_path / "here").start()
    one = script("echo never")
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await eventually(lambda: cluster.run("squeue", "-h", "-o", "%r").strip() == "BeginTime")
    before = counted.uses()["squeue"]
    assert not [one for one in far.notices if isinstance(one, AttemptWaits)]
    far.site.watch([one.attempt], 60.0)
    waits = await eventually(lambda: [one for one in far.notices if isinstance(one, AttemptWaits)])
    assert "BeginTime" in waits[0].reason
    assert counted.uses()["squeue"] > before
    await far.site.cancel(one.attempt)
    # Nothing starts any more that could tell its end: the list is asked for at once.
    assert (await far.ended(one.attempt)).failure == "killed"
    await far.site.close()


@pytest.mark.cluster
async def test_a_starter_that_dies_without_a_word_is_found_by_the_list(
    counted: Counted, cluster: Cluster, tmp_path: Path
) -> None:
    limits = {"poll_interval": 0.2, "list_interval": 1.0}
    far = await Far(spec(counted, tmp_path, **limits), tmp_path / "here").start()
    one = script("sleep 600")
    id = await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    cluster.run("scancel", "--signal=KILL", "--full", id)
    ended = await far.ended(one.attempt)
    assert ended.failure == "lost"
    await far.site.close()


@pytest.mark.cluster
async def test_who_asks_for_jobs_outside_is_answered_by_the_next_look_however_rare_lists_are(
    counted: Counted, cluster: Cluster, tmp_path: Path
) -> None:
    far = await Far(spec(counted, tmp_path, list_interval=3600.0), tmp_path / "here").start()
    outside = far.site.outside
    assert outside is not None
    one = script("sleep 600")
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    theirs = cluster.run("sbatch", "--parsable", "--begin=now+1hour", "--wrap=true").strip()
    for _ in range(3):  # some ask while a look that serves the broker alone is under way
        far.site.poll_now()
        async with asyncio.timeout(LIST_SOON * 5):
            assert [job.id for job in await outside.jobs()] == [theirs]
    lists = counted.uses()["squeue"]
    await far.site.cancel(one.attempt)
    assert (await far.ended(one.attempt)).failure == "killed"
    assert counted.uses()["squeue"] <= lists + 4
    await far.site.close()
