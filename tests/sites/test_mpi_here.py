"""Parallel jobs on this machine: a program that checks its ranks, by real Open MPI and MPICH."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.samples import sample
from broker_core.sites.contract import InputFile, LaunchOrder
from tests.sites.running_site import RunningSite, order
from tests.testbed.mpi import KINDS, Installation, installed
from tests.waiting import eventually

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module", params=KINDS)
def mpi(request: pytest.FixtureRequest) -> Installation:
    return installed(request.param)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[RunningSite]:
    """A started site with more processors than this machine may have."""
    site = RunningSite(tmp_path / "site", 8)
    await site.start()
    yield site
    await site.close()


def ranks(mpi: Installation, words: str = "", cpus: int = 4, **more: object) -> LaunchOrder:
    """An order for the program that checks its ranks."""
    given = {"environment": (*mpi.variables, ("GIVEN", "a value")), **more}
    inputs = (InputFile("ranks", mpi.program, True), *given.pop("inputs", ()))  # type: ignore[misc]
    return order("./ranks", words, mpi=mpi.kind, cpus=cpus, inputs=inputs, **given)


async def test_a_job_has_as_many_ranks_as_cpus_and_they_find_each_other(
    mpi: Installation, here: RunningSite
) -> None:
    for cpus in (1, 4):
        one = ranks(mpi, cpus=cpus)
        await here.site.submit(one)
        ended = await here.ended(one.attempt)
        assert (ended.exit_code, ended.failure) == (0, ""), here.text(one.attempt, "std.err")
        assert (
            here.text(one.attempt) == f"{cpus} ranks of 1 launchers, pi 3.141593, halo right, given a value\n"
        )


async def test_the_exit_code_of_a_rank_is_that_of_the_job(mpi: Installation, here: RunningSite) -> None:
    one = ranks(mpi, "exit 2 7")
    await here.site.submit(one)
    assert (await here.ended(one.attempt)).exit_code == 7


async def test_a_killed_rank_fails_the_job_and_leaves_none(mpi: Installation, here: RunningSite) -> None:
    one = ranks(mpi, "kill 1")
    await here.site.submit(one)
    ended = await here.ended(one.attempt)
    assert ended.exit_code != 0
    await eventually(lambda: not here.left())


async def test_a_canceled_job_leaves_no_rank(mpi: Installation, here: RunningSite, tmp_path: Path) -> None:
    one = ranks(mpi, f"wait {tmp_path / 'gate'}")
    await here.site.submit(one)
    await eventually(lambda: here.text(one.attempt))
    assert len(here.left()) > 4
    await here.site.cancel(one.attempt)
    assert (await here.ended(one.attempt)).failure == "killed"
    await eventually(lambda: not here.left())


async def test_what_lies_below_the_site_is_told_by_its_tag_and_found_by_its_jobs(
    mpi: Installation, tmp_path: Path
) -> None:
    folder = tmp_path / "site/mpi"
    folder.mkdir(parents=True)
    (folder / mpi.kind).symlink_to(mpi.prefix)
    site = RunningSite(tmp_path / "site", 8)
    await site.start()
    try:
        tag = {"mpich": "MPICH", "openmpi": "OPENMPI"}[mpi.kind]
        assert await eventually(lambda: tag in _tags(site))
        one = ranks(mpi, environment=())
        await site.site.submit(one)
        assert (await site.ended(one.attempt)).exit_code == 0
    finally:
        await site.close()


async def test_the_sample_compiles_its_program_and_runs_it(here: RunningSite) -> None:
    found = sample("pi-in-parallel")
    folder = found.jdl.parent
    mpi = installed("mpich")
    hook = ("I2G_MPI_PRE_RUN_HOOK", "compile.sh")
    one = order(
        "./pi.sh",
        "1000000",
        mpi="mpich",
        cpus=4,
        environment=(*mpi.variables, hook),
        inputs=tuple(InputFile(name, folder / name, True) for name in ("pi.sh", "pi.c", "compile.sh")),
    )
    await here.site.submit(one)
    assert (await here.ended(one.attempt)).exit_code == 0, here.text(one.attempt, "std.err")
    lines = here.text(one.attempt).splitlines()
    assert len([line for line in lines if " of 4 on " in line]) == 4
    assert any(line.startswith("Together: 3.1415926536 after ") for line in lines)


def _tags(site: RunningSite) -> list[str]:
    return list(site.site.describe().attributes["GlueHostApplicationRunTimeEnvironment"])
