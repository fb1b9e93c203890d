"""Interactive jobs on the nodes of a real Slurm cluster, with an agent that is sent along with the job."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.session_events import SessionState
from tests.broker.jobs import reach
from tests.interactive.pair import Screen
from tests.interactive.test_at_this_machine import SHELL
from tests.running import RunningBroker
from tests.sites.remote.far_site import spec_for
from tests.testbed.slurm import Cluster, Slurm
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", ("a",))
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """Stands in for the frozen agent: the same program with this machine's interpreter."""
    program = tmp_path / "agent"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -m broker_core.worker.start "$@"\n')
    program.chmod(0o700)
    return program


@pytest.fixture
async def client(running_broker: RunningBroker, agent: Path) -> AsyncIterator[BrokerClient]:
    running_broker.kill()
    (running_broker.state_dir / "broker.toml").write_text(f'agent_program = "{agent}"\n')
    running_broker.start()
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


async def test_a_console_on_a_node_of_the_cluster(
    client: BrokerClient, cluster: Cluster, tmp_path: Path
) -> None:
    await client.add_site(spec_for(cluster, tmp_path / "site"))

    async def known() -> bool:
        return any("slurm" in ce for ce in (await client.resources_page()).columns["ce"])

    await eventually(known, 60)
    text = f'Executable = "/bin/sh"; Interactive = true; {SHELL}'
    job = (await client.submit_prepared(await prepare(text, Path("/")), site="far")).ids[0]
    screen = Screen(await open_session(client, job))
    await screen.shows(b"ready", seconds=60)
    await eventually(lambda: screen.session.status.writer)
    screen.session.write(b"echo slurm=$SLURM_JOB_ID=\n")
    await eventually(lambda: b"\nslurm=" in screen.streams[1])
    assert bytes(screen.streams[1]).rpartition(b"slurm=")[2].partition(b"=")[0].isdigit()
    screen.session.write(b"exit 5\n")
    await screen.ended()
    assert screen.session.status.state is SessionState.CLOSED
    assert screen.session.status.exit_code == 5
    await screen.session.close()
    assert (await reach(client, job, "Done", seconds=60))["exit_code"] == 5
    left = [path.name for path in (tmp_path / "site").rglob(".crossdesk-*")]
    assert left == []
