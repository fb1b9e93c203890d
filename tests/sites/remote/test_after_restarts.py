"""What a broker finds again after it was killed, and what it ends (cases 1 to 3 and 11)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.jobs.attempt_events import AttemptFound
from broker_core.jobs.placement import Component
from tests.sites.remote.far_site import MARK, Far, script
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_all_attempts_are_found_again_in_every_state(
    far: Far, cluster: Cluster, tmp_path: Path
) -> None:
    held = script("echo held")
    running = script(f"until [ -e {tmp_path}/end ]; do sleep 0.05; done; echo over")
    over, never = script("echo done; exit 4"), script("echo late")
    group = [script(f"until [ -e {tmp_path}/end ]; do sleep 0.05; done; exit {code}") for code in (1, 2)]
    orders = [held, running, over, *group]
    await asyncio.gather(*(far.site.submit(one) for one in orders))
    for one in orders[1:]:
        await far.site.confirm(one.attempt)
    for one in (running, *group):
        await far.started(one.attempt)
    await far.site.close()
    await eventually(lambda: len(cluster.completed()) and len(cluster.present()) == 4)
    new = await far.again([*((one.attempt, None) for one in orders), (never.attempt, never)])
    assert (await new.ended(over.attempt)).exit_code == 4
    assert await new.text(over.attempt) == "done\n"
    first = await new.started(running.attempt)
    assert new.starts(running.attempt) == [first]
    (tmp_path / "end").touch()
    assert (await new.ended(running.attempt)).exit_code == 0
    assert [(await new.ended(one.attempt)).exit_code for one in group] == [1, 2]
    assert [one.component for one in new.notices if isinstance(one, AttemptFound)] == [held.attempt]
    await new.site.confirm(held.attempt)
    assert (await new.ended(held.attempt)).exit_code == 0
    await eventually(lambda: f"{MARK}.{never.attempt.tag}" in cluster.present().values())
    await new.site.confirm(never.attempt)
    assert (await new.ended(never.attempt)).exit_code == 0
    await new.site.close()


async def test_an_end_that_was_kept_here_is_told_again_without_the_site(far: Far) -> None:
    one = script("echo said; exit 5")
    first = await far.run(one)
    await far.site.close()
    new = await far.again([(one.attempt, None)])
    assert new.ends(one.attempt) == [first]
    assert await new.text(one.attempt) == "said\n"
    await new.site.forget([one.attempt])
    assert await new.site.files(one.attempt) == []
    await new.site.close()


async def test_what_nobody_knows_is_ended(far: Far, cluster: Cluster) -> None:
    running, held = script("sleep 600"), script("echo never", wall_limit=600.0)
    for one in (running, held):
        await far.site.submit(one)
    await far.site.confirm(running.attempt)
    await far.started(running.attempt)
    foreign = cluster.run("sbatch", "--parsable", "--job-name=t1x.else", "-o/dev/null", "--wrap=sleep 600")
    new = await far.again([])
    new.site.poll_now()
    await eventually(lambda: list(cluster.present()) == [foreign.strip()])
    assert new.notices == []
    await new.site.close()


@pytest.mark.parametrize("asked", ["canceled", "left alone"])
async def test_what_left_the_batch_system_while_no_broker_looked_has_ended(
    far: Far, cluster: Cluster, asked: str
) -> None:
    one = script("echo never")
    id = await far.site.submit(one)
    await far.site.close()
    cluster.run("scancel", id)
    await eventually(lambda: not cluster.present())
    new = await far.again([(one.attempt, None)])
    if asked == "canceled":
        await new.site.cancel(one.attempt)
    assert (await new.ended(one.attempt)).failure == ("killed" if asked == "canceled" else "lost")
    await new.site.close()


async def test_an_attempt_that_never_was_there_is_lost(far: Far) -> None:
    new = await far.again([(Component("nobody", 1), None)])
    assert (await new.ended(Component("nobody", 1))).failure == "lost"
    await new.site.close()


async def test_a_cancel_is_carried_over_a_restart(far: Far, cluster: Cluster) -> None:
    one = script("sleep 600")
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    new = await far.again([(one.attempt, None)])
    await new.site.cancel(one.attempt)
    assert (await new.ended(one.attempt)).failure == "killed"
    await eventually(lambda: not cluster.present())
    await new.site.close()
