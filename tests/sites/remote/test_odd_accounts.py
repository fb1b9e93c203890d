"""Accounts whose settings change what the batch system's commands do: jobs are seen all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.sites.shell import survey
from broker_core.sites.shell.probe import PROBE
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.sites.remote.host_far import HostFar, released
from tests.sites.remote.host_far import script as host_script
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
HABITS = {
    "SQUEUE_STATES": "COMPLETING",
    "SQUEUE_PARTITION": "short",
    "SQUEUE_USERS": "nobody",
    "SQUEUE_NAMES": "nothing",
    "SQUEUE_FORMAT": "%i",
    "SQUEUE_FORMAT2": "jobid",
    "SQUEUE_SORT": "i",
    "SINFO_FORMAT": "%P",
    "SINFO_PARTITION": "short",
    "SBATCH_REQUEUE": "1",
    "SBATCH_ARRAY_INX": "1-3",
    "SBATCH_WAIT": "1",
    "LANG": "de_DE.UTF-8",
    "LC_ALL": "de_DE.UTF-8",
}


async def test_habits_of_an_account_at_slurm_hide_no_job(cluster: Cluster, tmp_path: Path) -> None:
    environment = cluster.environment | HABITS
    spec = spec_for(cluster, tmp_path / "site", environment=environment)
    far = await Far(spec, tmp_path / "here").start()
    waits = script("echo waited")
    await far.site.submit(waits)
    one = script(f"until [ -e {tmp_path}/go ]; do sleep 0.05; done; echo ran; exit 3")
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    await eventually(lambda: far.runs(one.attempt) or far.site.running == 1)
    assert [facts.attributes["GlueCEName"] for facts in await far.site.look()] == ["main", "short"]
    (tmp_path / "go").touch()
    assert (await far.ended(one.attempt)).exit_code == 3
    assert not far.ends(waits.attempt)
    await far.site.confirm(waits.attempt)
    assert (await far.ended(waits.attempt)).exit_code == 0
    await far.site.close()


NAMES = (
    "two  words",
    'it\'s "$HOME" `x` *?[a]',
    "-rf",
    "öß\u2028日本",
    "a%j\\n&;|<>",
    "x" * 200,
    "two\nlines",
)


@pytest.mark.parametrize("name", NAMES)
async def test_any_name_of_a_directory_will_do_at_slurm(cluster: Cluster, tmp_path: Path, name: str) -> None:
    far = await Far(spec_for(cluster, tmp_path / name / "site"), tmp_path / "here").start()
    ended = await far.run(script("echo ran; exit 3"))
    assert (ended.exit_code, ended.failure, ended.reason) == (3, "", "")
    assert await far.text(ended.component) == "ran\n"
    await far.site.close()


@pytest.mark.parametrize("name", ["~/jobs", "jobs"])
async def test_a_directory_that_is_not_absolute_is_one_of_the_home_directory(folder: Path, name: str) -> None:
    far = await HostFar(folder, directory=name).start()
    one = await released(far, host_script("true"))
    assert (await far.ended(one.attempt)).exit_code == 0
    assert (folder / "jobs" / MARK / "attempts").is_dir()
    await far.site.close()


async def test_modules_that_are_never_told_keep_no_host_from_being_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = folder / "module"
    module.write_text("#!/bin/sh\necho early\nsleep 600\n")
    module.chmod(0o700)
    monkeypatch.setattr(survey, "PROBE", PROBE.replace("limit 20 ", "limit 1 "))
    path = f"{folder}:{os.environ['PATH']}"
    far = HostFar(folder, environment={"CROSSDESK_SLOTS": "1", "HOME": str(folder), "PATH": path})
    (facts,) = await far.site.look()
    assert {"CROSSDESK", "EARLY"} <= set(facts.attributes["GlueHostApplicationRunTimeEnvironment"])
    await far.site.close()
