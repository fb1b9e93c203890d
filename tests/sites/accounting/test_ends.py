"""What a real Slurm knows of an end joins the job's story where the starter could not say it."""

from __future__ import annotations

import pytest

from tests.sites.remote.far_site import Far, script
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_a_program_that_needs_more_memory_than_its_job_may_have_ran_out_of_it(far: Far) -> None:
    ended = await far.run(script("kill -9 $$"))
    assert (ended.signal, ended.failure) == (9, "")  # killed, and not for want of memory
    one = script('exec python3 -c "print(len(str(1) * 200000000))"')
    ended = await far.run(one)
    assert ended.failure == "out-of-memory", ended
    assert "memory" in ended.reason


async def test_a_node_that_fails_is_named_as_the_cause(far: Far, home: Cluster) -> None:
    one = script("sleep 600")
    await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    try:
        home.run("scontrol", "update", "nodename=a1", "state=down", "reason=tried")
        ended = await far.ended(one.attempt)
    finally:
        home.run("scontrol", "update", "nodename=a1", "state=resume", check=False)
        await eventually(home.ready)
    assert (ended.exit_code, ended.failure) == (None, "lost")
    assert "its node failed (NODE_FAIL)" in ended.reason


async def test_what_was_canceled_there_is_told_so(far: Far, home: Cluster) -> None:
    one = script("sleep 600")
    id = await far.site.submit(one)
    await far.site.confirm(one.attempt)
    await far.started(one.attempt)
    home.run("scancel", id)
    ended = await far.ended(one.attempt)
    assert (ended.exit_code, ended.failure) == (None, "lost")
    assert ended.reason == "The site's batch system says: it was canceled there (CANCELLED)."
