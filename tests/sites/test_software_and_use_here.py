"""This machine as a site: what software it tells of, jobs with software, and what its jobs use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from broker_core.jobs.use import FILE, samples_of
from broker_core.matching.match import match
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.local import use
from tests.crash.control_group import control_group
from tests.matching.made import job as description
from tests.sites.running_site import RunningSite, order, script
from tests.testbed.software import module_system
from tests.waiting import eventually

_EATER = "import os, time\nwhile not os.path.exists('{gate}'): time.sleep(0.02)\nb'x' * 200_000_000"


@pytest.fixture(scope="module", params=["environment-modules", "lmod"])
def modules(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return module_system(request.param, tmp_path_factory.mktemp("modules"))


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are looked at as often as that is thought of."""
    monkeypatch.setattr(use, "_LEAST", 0.0)
    monkeypatch.setattr(use, "_SHARE", 0)


@pytest.mark.software
async def test_modules_of_this_machine_are_told_and_those_that_it_lacks_are_the_reason(
    modules: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in modules.items():
        monkeypatch.setenv(name, value)
    here = RunningSite(tmp_path)
    await here.start()
    try:
        await eventually(lambda: "MODULE:gcc/14" in str(here.site.describe().attributes))
        known = [here.site.describe()]
        assert len(match(description('Modules = {"gcc/14", "demo"};'), known).candidates) == 1
        (rejected,) = match(description('Modules = "gcc/99";'), known).rejected
        assert rejected.reason == "it has no module gcc/99 (there is gcc/12, gcc/14)"
    finally:
        await here.close()


@pytest.mark.software
async def test_a_job_here_has_its_modules(modules: dict[str, str], here: RunningSite) -> None:
    wanted = order("greet", environment=tuple(modules.items()), software=("module=gcc/14", "module=demo"))
    lacking = order("greet", environment=tuple(modules.items()), software=("module=gcc/99",))
    for one in (wanted, lacking):
        await here.site.submit(one)
    assert (await here.ended(wanted.attempt)).exit_code == 0
    assert here.text(wanted.attempt) == "gcc 14, demo 1\n"
    ended = await here.ended(lacking.attempt)
    assert (ended.failure, ended.exit_code) == ("software", None)
    assert ended.reason.startswith("The module gcc/99 cannot be loaded: ")


async def test_what_a_job_here_uses_is_sampled_and_is_no_file_of_its_own(
    often: None, here: RunningSite, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job = script(f"while ! [ -e {gate} ]; do sleep 0.02; done")
    await here.site.submit(job)
    await here.started(job.attempt)

    made = Path(AttemptDirectory(here.site.root, job.attempt.tag).job, FILE)
    await eventually(lambda: made.exists() and len(samples_of(made.read_bytes())) > 1)
    assert await here.site.open_path(job.attempt, FILE) == made
    assert FILE not in [file.path for file in await here.site.files(job.attempt)]
    gate.touch()
    told = (await here.ended(job.attempt)).usage["max_rss_bytes"]
    assert told == max(int(line.split()[2]) for line in made.read_text().splitlines()) * 1024 > 0
    assert FILE not in [file.path for file in (await here.site.left(job.attempt)).files]
    assert samples_of(made.read_bytes())[-1].seconds > 0


@pytest.mark.control_group
async def test_a_job_here_that_the_kernel_ended_for_its_memory_says_so(
    here: RunningSite, tmp_path: Path
) -> None:
    job = order(sys.executable, f'-c "{_EATER.format(gate=tmp_path / "gate")}"')
    await here.site.submit(job)
    pid = (await here.started(job.attempt)).pid
    with control_group("memory") as group:
        group.limit_memory(60 << 20)
        group.take(pid)
        (tmp_path / "gate").touch()
        ended = await here.ended(job.attempt)
    assert (ended.failure, ended.signal) == ("out-of-memory", 9)
    assert ended.reason == "It ran out of memory: the node's kernel ended it."
