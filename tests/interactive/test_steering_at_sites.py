"""A batch job of a Slurm cluster behind SSH is steered: an agent is brought beside its program."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.connect import connect
from broker_core.client.interactive import SessionOptions, open_session
from broker_core.wire.sites import SiteSpec
from tests.interactive.far_jobs import add, restart, submitted
from tests.interactive.steered_jobs import declared, published
from tests.packaging.agent_build import AgentFiles
from tests.running import RunningBroker
from tests.testbed.sshd import Sshd
from tests.waiting import eventually, within
from tests.worker.steered import program

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


async def test_a_batch_job_of_a_cluster_is_steered(
    sshd: Sshd, running_broker: RunningBroker, agent_files: AgentFiles, tmp_path: Path
) -> None:
    restart(running_broker, agent_program=str(agent_files.agent))
    (words,) = program("sh", tmp_path)
    site = SiteSpec(name="hut", kind="slurm", host="hut", directory=str(tmp_path / "site"))
    site = site.model_copy(update={"poll_interval": 0.1, "list_interval": 0.1})
    async with await connect(running_broker.state_dir, start=False) as client:
        await add(client, site)
        job = await submitted(client, "hut", f'Executable = "{words}";')
        await declared(client, job)
        session = await open_session(client, job, SessionOptions(attached=False))
        number = await within(session.forwards.steering.set("rate", "0.25"), 120)

        async def taken() -> bool:
            return (await published(client, job)).steering.taken.get("rate") == number

        await eventually(taken, 120)
        await within(session.forwards.steering.set("stop", "true"))
        await session.close()

        async def over() -> bool:
            return (await client.job(job)).row["state"] == "Done"

        await eventually(over, 120)
        known = (await published(client, job)).steering
        assert {name: one.value for name, one in known.parameters.items()} == {
            "stop": True, "rate": 0.25, "size": 3, "solver": "cg", "title": "first"
        }  # fmt: skip
        assert [one.path for one in await client.files(job) if "parameters" in one.path] == []
