"""A site that takes connections and never answers, and settings that cannot be read: others go on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, submit
from tests.running import RunningBroker


@pytest.fixture
def silent() -> Iterator[int]:
    """Port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield server.getsockname()[1]


async def test_a_site_that_never_answers_delays_nobody(
    running_broker: RunningBroker, state_dir: Path, silent: int
) -> None:
    async with BrokerClient(BrokerTransport(state_dir, patience=10)) as client:
        await client.add_site(SiteSpec(name="mute", kind="slurm", host="127.0.0.1", port=silent))
        for _ in range(2):
            jobs = [(await submit(client, 'Executable = "/bin/true";')).ids[0] for _ in range(5)]
            for job in jobs:
                assert (await reach(client, job, "Done"))["site"].startswith("localhost")
            mute = next(one for one in await client.sites() if one.name == "mute")
            assert (mute.link.state in ("connecting", "retrying"), mute.ces) == (True, [])
            running_broker.kill()
            running_broker.start()
        await client.drain_site("mute")
        await client.remove_site("mute")
        assert [one.name for one in await client.sites()] == ["local"]


async def test_settings_that_cannot_be_read_hinder_no_start(state_dir: Path) -> None:
    for name, text in (("torn", "{"), ("odd", json.dumps({"name": "odd", "kind": "abacus"}))):
        (state_dir / "sites" / name).mkdir(parents=True)
        (state_dir / "sites" / name / "site.json").write_text(text)
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir, patience=10)) as client:
            assert [one.name for one in await client.sites()] == ["local"]
    finally:
        broker.close()
    said = (state_dir / "logs" / "broker.log").read_text()
    assert "torn/site.json" in said
    assert "abacus" in said


async def test_this_machine_can_be_drained_over_a_restart(
    running_broker: RunningBroker, state_dir: Path
) -> None:
    async with BrokerClient(BrokerTransport(state_dir, patience=10)) as client:
        assert (await client.drain_site("local")).standing == "drained"
        running_broker.kill()
        running_broker.start()
        job = (await submit(client, 'Executable = "/bin/true";')).ids[0]
        assert "drained" in (await client.why(job)).headline + " ".join((await client.why(job)).details)
        await client.resume_site("local")
        await reach(client, job, "Done")
