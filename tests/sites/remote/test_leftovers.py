"""Directories at a site of attempts that are over: they go when they are found, and no other goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.jobs.placement import Component
from broker_core.sites.contract import PURGED
from tests.sites.remote.far_site import MARK, QUICK
from tests.sites.remote.host_far import HostFar, current, released, script
from tests.waiting import eventually


@pytest.fixture
async def far(tmp_path: Path) -> AsyncIterator[HostFar]:
    """A host that takes everything for old, and has nothing to do."""
    made = HostFar(tmp_path)
    made.site.settings = replace(QUICK, untouched=0.0)
    await made.start()
    await made.site.sweep(current())
    yield made
    await made.site.close()


def leave(far: HostFar, tag: str, *names: str) -> Path:
    """What an attempt leaves that was handed over by itself; returns its directory."""
    home = Path(far.spec.directory) / MARK
    place, group = home / "attempts" / tag, home / "groups" / tag
    (place / "job").mkdir(parents=True)
    for name in names:
        (place / name).mkdir() if name == "claim" else (place / name).touch()
    group.mkdir()
    (group / "list").write_text(f"{tag}\n")
    return place


def left(far: HostFar) -> set[str]:
    """All that lies there of attempts."""
    home = Path(far.spec.directory) / MARK
    return {f"{path.parent.name}/{path.name}" for path in home.glob("[agn]*/*")}


async def test_what_is_left_of_a_purged_job_goes_whatever_of_it_is_there(far: HostFar) -> None:
    leave(far, "whole.1", "order", "claim", "started", "ended")
    leave(far, "whole.2", "order")
    leave(far, "cut.1").joinpath("job").rmdir()
    (Path(far.spec.directory) / MARK / "attempts" / "cut.1").rmdir()
    (Path(far.spec.directory) / MARK / "news" / "told.1.e").touch()
    assert await far.site.sweep(current(whole=PURGED, told=PURGED))
    await eventually(lambda: not left(far), what="nothing is left")
    assert not await far.site.sweep(current()), "that was the end"


async def test_an_older_attempt_goes_and_the_current_one_stays_until_its_output_is_here(far: HostFar) -> None:
    leave(far, "job.1", "order", "claim", "ended")
    leave(far, "job.2", "order", "claim", "ended")
    await far.site.sweep(current(job=2))
    await eventually(lambda: left(far) == {"attempts/job.2", "groups/job.2"})


@pytest.mark.parametrize(
    ("number", "names"),
    [
        (None, ("order", "claim", "ended")),
        (0, ("order",)),
        (1, ("order",)),
        (1, ("order", "claim", "ended")),
        (PURGED, ("order", "claim", "beat")),
    ],
    ids=["not known", "newer than the store", "not begun", "output not here", "alive"],
)
async def test_what_may_be_wanted_stays(far: HostFar, number: int | None, names: tuple[str, ...]) -> None:
    leave(far, "job.1", *names)
    await far.site.sweep(current(**{} if number is None else {"job": number}))
    await far.site.sweep(current())
    assert "attempts/job.1" in left(far)


async def test_what_changed_lately_stays(far: HostFar) -> None:
    leave(far, "job.1", "order")
    far.site.settings = replace(QUICK, untouched=3600.0)
    assert not await far.site.sweep(current(job=PURGED))
    assert "attempts/job.1" in left(far)


async def test_a_removal_that_was_lost_is_made_up_for_and_the_output_here_stays(
    far: HostFar, tmp_path: Path
) -> None:
    one = await released(far, script("echo kept"))
    await far.ended(one.attempt)
    await eventually(lambda: not left(far), what="it is removed")
    leave(far, one.attempt.tag, "order", "claim", "ended")
    later = await far.again([])
    later.site.settings = replace(QUICK, untouched=0.0)
    await later.site.sweep(current(**{one.attempt.job: 1}))
    await eventually(lambda: not left(far), what="it is removed")
    assert await later.text(one.attempt) == "kept\n"
    await later.site.close()


async def test_what_ended_before_it_began_leaves_nothing(far: HostFar) -> None:
    one = script("echo never")
    await far.site.submit(one)
    await far.site.cancel(one.attempt)
    assert (await far.ended(one.attempt)).failure == "killed"
    await far.site.sweep(current(**{one.attempt.job: 1}))
    await eventually(lambda: not left(far), what="it is removed")
    assert [type(end) for end in far.ends(one.attempt)] == [AttemptEnded]


async def test_what_arrived_after_its_job_was_purged_is_ended_before_it_is_removed(
    far: HostFar, tmp_path: Path
) -> None:
    late = HostFar(tmp_path)
    late.site.settings = far.site.settings
    await late.site.start(late.notices.append, [])
    one = script("sleep 600")
    await late.site.submit(one)
    await late.site.close()
    queue = tmp_path / ".crossdesk" / "queue"
    assert list(queue.glob(f"*/held/*:{MARK}.{one.attempt.tag}"))

    async def gone() -> bool:
        await far.site.sweep(current(**{one.attempt.job: PURGED}))
        return not left(far)

    await eventually(gone, what="it is removed")
    assert not list(queue.glob(f"*/*/*:{MARK}.{one.attempt.tag}"))
    assert Component(one.attempt.job, 1) not in far.site.kept()
