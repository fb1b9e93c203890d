"""Jobs on a real Slurm, through the whole way of a remote site."""

from __future__ import annotations

import asyncio

import pytest

from tests.sites.remote.far_site import MARK, Far, script
from tests.testbed.slurm import Cluster

pytestmark = pytest.mark.cluster


async def test_a_job_runs_and_its_output_is_here_when_its_end_is_told(far: Far, cluster: Cluster) -> None:
    one = script('echo "hello $X"; echo trouble >&2; echo data >"a b.csv"; exit 3', outputs=("*.csv",))
    ended = await far.run(one)
    assert (ended.exit_code, ended.failure) == (3, "")
    assert await far.text(one.attempt) == "hello \n"
    assert await far.text(one.attempt, "std.err") == "trouble\n"
    assert await far.text(one.attempt, "a b.csv") == "data\n"
    assert len(far.starts(one.attempt)) == 1
    jobs = [job for job in cluster.completed() if job.name == f"{MARK}.{one.attempt.tag}"]
    assert [(job.state, job.started) for job in jobs] == [("FAILED", True)]
