"""A broker that dies on the way of a submission to a cluster: the job runs there once, and only once."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import Unreachable
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, submit
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster
from tests.waiting import eventually, wait_until

POINTS = (  # every second one but in the soak
    "before:job.matched",
    "before:site.submit",
    "after:site.submit",
    "after:job.scheduled",
    "before:site.confirm",
    "after:site.confirm",
    "before:attempt.ended",
    "before:job.done",
)


@pytest.mark.timeout(600)  # as many lives of a broker as there are points
@pytest.mark.usefixtures("trusting")
async def test_a_broker_killed_on_the_way_runs_the_job_once(
    client: BrokerClient, running_broker: RunningBroker, cluster: Cluster, spec: SiteSpec, tmp_path: Path,
    soak: bool,
) -> None:  # fmt: skip
    await client.add_site(spec)
    await known(client, NAME)
    for number, point in enumerate(POINTS if soak else POINTS[1::2]):
        running_broker.kill()
        running_broker.start(CROSSDESK_FAIL_AT=f"{point}:1")
        await known(client, NAME)
        trace, before = tmp_path / f"trace{number}", len(cluster.completed())
        text = f'Executable = "/bin/sh"; Arguments = "-c \'echo once >> {trace}\'";'
        with contextlib.suppress(Unreachable):  # the broker may die before it can answer
            await submit(client, text, site=NAME, key=f"key-{number:08}")
        wait_until(lambda: not running_broker.alive, what=f"the broker dies at {point}")
        running_broker.start()
        job = (await submit(client, text, site=NAME, key=f"key-{number:08}")).ids[0]
        assert (await reach(client, job, "Done"))["exit_code"] == 0, point
        assert trace.read_text() == "once\n", point
        await eventually(lambda: not cluster.present(), what=point)
        ran = [one for one in cluster.completed()[before:] if one.started]
        assert len(ran) == 1, (point, ran)
