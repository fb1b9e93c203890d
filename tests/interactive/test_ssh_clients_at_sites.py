"""OpenSSH's programs with jobs of a Slurm cluster and of a host behind SSH, interactive and batch."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach
from tests.interactive.far_jobs import TEXT, add, restart, submitted
from tests.interactive.ssh_clients import SshClients
from tests.packaging.agent_build import AgentFiles
from tests.running import RunningBroker
from tests.testbed.sshd import Sshd
from tests.waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
BATCH = (
    'Executable = "/bin/sh"; Arguments = "-c \'echo begun; while [ ! -e go ]; do sleep 1; done; cat sent\'";'
)


@pytest.mark.parametrize("kind", ["shell", "slurm"])
async def test_clients_reach_a_batch_job_and_an_interactive_one(
    kind: str, sshd: Sshd, running_broker: RunningBroker, agent_files: AgentFiles, tmp_path: Path
) -> None:
    restart(running_broker, agent_program=str(agent_files.agent))
    site = SiteSpec(
        name="hut",
        kind=kind,
        host="hut",
        directory=str(tmp_path / "site"),
        poll_interval=0.1,
        list_interval=0.1,
    )
    async with await connect(running_broker.state_dir, start=False) as client:
        await add(client, site)
        console = await submitted(client, "hut", TEXT)
        assert await _sent_and_read(console, tmp_path) == await _sent_and_read(console, tmp_path)
        batch = await submitted(client, "hut", BATCH)
        sent = await _sent_and_read(batch, tmp_path)
        await asyncio.to_thread((await _clients(batch)).run, "HOST", "touch go")
        assert (await reach(client, batch, "Done"))["exit_code"] == 0
        assert (await client.read_file(batch, "std.out")).content.startswith(b"begun\n" + sent[:10])
        assert {file.path for file in await client.files(batch)} >= {"std.out", "sent"}
        assert ".crossdesk-agent" not in {file.path for file in await client.files(batch)}
        await client.cancel([console])
        await reach(client, console, "Canceled")
        await _nothing_left(client, tmp_path / "site")


async def _clients(job: str) -> SshClients:
    return await asyncio.to_thread(SshClients.of, job)


async def _sent_and_read(job: str, folder: Path) -> bytes:
    """Bytes that scp brought into the job's directory, as a command there gives them back."""
    clients = await _clients(job)
    data = folder / "sent"
    if not data.exists():
        data.write_bytes(os.urandom(20_000).hex().encode())
    await asyncio.to_thread(clients.run, "-q", str(data), "HOST:sent", program="scp")
    return (await asyncio.to_thread(clients.run, "HOST", "cat sent")).encode()


async def _nothing_left(client: BrokerClient, site: Path) -> None:
    await eventually(lambda: not list(site.glob("*/attempts/*")), what="the jobs are removed")
    assert not list(site.rglob(".crossdesk-*"))
