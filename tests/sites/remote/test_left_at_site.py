"""What a job made and nobody named: it stays at the site, is told, and goes when nobody wants it any more."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.errors import NotFound
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.left_files import LeftAtSite
from broker_core.sites.remote.settings import ResultLimits
from tests.sites.remote.far_site import MARK, QUICK, Far, script, spec_for
from tests.sites.remote.host_far import HostFar, current
from tests.sites.remote.host_far import script as host_script
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

HOSTILE = r"""
import os
for name in (b"new\nline", b"back\\slash", b"-dash", b"bytes\xff", b"\x1b[31m", b"stay 9 x", b"a" * 250):
    open(name, "wb").write(name)
"""


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[HostFar]:
    """A host that takes everything for old."""
    made = HostFar(tmp_path)
    made.site.settings = replace(QUICK, untouched=0.0)
    await made.start()
    yield made
    await made.site.close()


async def swept(host: HostFar, one: LaunchOrder) -> None:
    """Go once through all that lies there."""
    numbers = current(**{one.attempt.job: one.attempt.attempt})
    while await host.site.sweep(numbers):
        pass


def names(left: LeftAtSite) -> dict[str, int]:
    return {file.shown: file.size for file in left.files}


@pytest.mark.cluster
async def test_what_was_not_named_stays_at_a_cluster_until_it_is_fetched(far: Far) -> None:
    one = script("mkdir d; echo 1 >named; echo 22 >d/other; echo 333 >third", outputs=("named",))
    assert (await far.run(one)).failure == ""
    place = Path(far.spec.directory) / MARK / "attempts" / one.attempt.tag
    assert names(await far.site.left(one.attempt)) == {"d/other": 3, "third": 4}
    assert {file.path for file in await far.site.files(one.attempt)} == {"named", "std.out", "std.err"}
    assert place.is_dir()
    left = await far.site.fetch_left(one.attempt, ["d/other"])
    assert names(left) == {"third": 4}
    assert left.fetched == ("d/other",)
    assert await far.text(one.attempt, "d/other") == "22\n"
    await far.site.fetch_left(one.attempt, [])
    assert await far.text(one.attempt, "third") == "333\n"
    await eventually(lambda: not place.exists(), what="nothing is there that is not here")
    assert (await far.site.left(one.attempt)).is_empty


@pytest.mark.cluster
async def test_what_is_too_large_stays_and_the_rest_comes(cluster: Cluster, tmp_path: Path) -> None:
    small = replace(QUICK, results=ResultLimits(results_max=1000))
    far = await Far(spec_for(cluster, tmp_path / "site"), tmp_path / "here", small).start()
    one = script("head -c 2000 /dev/zero >large; echo 1 >small", outputs=(".",))
    assert (await far.run(one)).failure == ""
    assert {file.path for file in await far.site.files(one.attempt)} == {"small", "std.out", "std.err"}
    assert names(await far.site.left(one.attempt)) == {"large": 2000}
    await far.site.close()


async def test_a_job_of_which_all_came_home_leaves_nothing(host: HostFar) -> None:
    one = host_script("mkdir d; echo 1 >d/a; ln -s d/a link; mkfifo pipe", outputs=(".",))
    await host.run(one)
    await eventually(lambda: not host.place(one).exists(), what="nothing is there")
    assert (await host.site.left(one.attempt)) == LeftAtSite()


async def test_names_of_others_come_back_as_they_are(host: HostFar, tmp_path: Path) -> None:
    program = tmp_path / "make.py"
    program.write_text(HOSTILE)
    one = host_script(f"python3 {program}", outputs=())
    await host.run(one)
    shown = {"new\nline", "back\\slash", "-dash", "bytes\\xff", "\x1b[31m", "stay 9 x", "a" * 250}
    assert names(await host.site.left(one.attempt)).keys() == shown
    assert (await host.site.fetch_left(one.attempt, [])).is_empty
    found = {file.path for file in await host.site.files(one.attempt)}
    assert found == shown | {"std.out", "std.err"}


async def test_what_stayed_is_known_after_a_restart_and_no_sweep_takes_it(host: HostFar) -> None:
    one = host_script("echo 1 >other", outputs=())
    await host.run(one)
    await swept(host, one)
    assert host.place(one).is_dir()
    await host.site.close()
    again = await Far(host.spec, host.folder, replace(QUICK, untouched=0.0)).start()
    assert names(await again.site.left(one.attempt)) == {"other": 2}
    await again.site.forget_left(one.attempt, [])
    await eventually(lambda: not host.place(one).exists(), what="what was forgotten is gone")
    await again.site.close()


async def test_what_is_over_its_time_goes_with_the_next_round(host: HostFar) -> None:
    host.site.settings = replace(QUICK, untouched=0.0)
    one, other = (host_script("echo 1 >other", outputs=()) for _ in range(2))
    await host.run(one)
    await host.run(other)
    left = await host.site.left(one.attempt)
    assert left.goes is not None
    assert left.goes - left.since == QUICK.left_age
    assert time.time() - left.since < 600
    host.site._records.note_left(one.attempt, replace(left, goes=time.time() - 1))
    await host.site.sweep(current())
    await eventually(lambda: not host.place(one).exists(), what="it is gone")
    assert host.place(other).is_dir()
    assert (await host.site.left(one.attempt)).is_empty
    assert "is removed, as its time is over" in host.log()


async def test_a_purge_takes_what_stayed_with_it(host: HostFar) -> None:
    one = host_script("echo 1 >other", outputs=())
    await host.run(one)
    await host.site.forget([one.attempt])
    assert not host.place(one).exists()
    assert (await host.site.left(one.attempt)).is_empty
    assert not list(host.folder.glob("left/*"))


async def test_no_other_name_is_brought_and_none_from_elsewhere(host: HostFar, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours")
    one = host_script(f"echo 1 >other; ln -s {tmp_path}/secret link", outputs=())
    await host.run(one)
    for name in ("../secret", "link", "/etc/passwd", ""):
        with pytest.raises(NotFound):
            await host.site.fetch_left(one.attempt, [name])
    assert names(await host.site.left(one.attempt)) == {"other": 2}


async def test_a_file_that_went_meanwhile_is_told_and_the_others_come(host: HostFar) -> None:
    one = host_script("echo 1 >other; echo 2 >third", outputs=())
    await host.run(one)
    (host.place(one) / "job" / "other").unlink()
    with pytest.raises(NotFound, match="not at the site any more"):
        await host.site.fetch_left(one.attempt, [])
    assert names(await host.site.left(one.attempt)) == {"other": 2}
    assert await host.text(one.attempt, "third") == "2\n"
