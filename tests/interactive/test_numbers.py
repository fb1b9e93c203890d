"""The numbers of the Bypass agent and its shadow are settings of the broker (CB-BYP-05, -06, -09)."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.connect import connect
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.errors import BadRequest
from broker_core.interactive.channel.contact import FlowSettings
from broker_core.settings.settings import load
from tests.broker.jobs import reach
from tests.interactive.far_jobs import restart
from tests.interactive.pair import Screen
from tests.running import RunningBroker
from tests.waiting import eventually

LINES = """Executable = "/bin/sh"; Interactive = true; InteractiveAgent = "bypass"; """


async def test_the_desk_shows_output_by_the_broker_s_numbers(running_broker: RunningBroker) -> None:
    numbers = {"shadow_buffer": 3, "shadow_flush_time": 1000.0, "shadow_ports": "none"}
    restart(running_broker, **numbers)
    async with await connect(running_broker.state_dir, start=False) as client:
        text = LINES + "Arguments = \"-c 'printf ab; read x; printf cd; read x'\";"
        job = (await client.submit_prepared(await prepare(text, Path("/")))).ids[0]
        screen = Screen(await open_session(client, job))
        assert (await client.session_contact(job)).manners.ports == "none"
        await eventually(lambda: screen.session.status.writer)
        assert not screen.streams[1]
        screen.session.write(b"\n")
        await screen.shows(b"abcd")
        screen.session.write(b"\n")
        await screen.ended()
        await screen.session.close()


async def test_the_agent_gives_up_by_the_broker_s_numbers(running_broker: RunningBroker) -> None:
    restart(running_broker, ca_retry_interval=0.05, ca_max_retries=3)
    async with await connect(running_broker.state_dir, start=False) as client:
        text = LINES + "Arguments = \"-c 'sleep 600'\";"
        job = (await client.submit_prepared(await prepare(text, Path("/")))).ids[0]
        row = await reach(client, job, "Aborted")
        assert "No desk came back after 3 attempts" in row["reason"]


@pytest.mark.parametrize("ports", ["20000", "5-4", "0-10", "1-70000", ""])
def test_ports_that_are_none_are_refused_with_their_place(tmp_path: Path, ports: str) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(f'shadow_ports = "{ports}"\n')
    with pytest.raises(BadRequest, match="shadow_ports"):
        load((file,))


def test_every_number_of_the_sheet_has_its_default_and_its_meaning() -> None:
    table = {name: (value, about) for name, value, _, about in load(()).table()}
    wanted = {
        "ca_retry_interval": 10.0,
        "ca_max_retries": 60,
        "shadow_buffer": 4096,
        "shadow_flush_time": 0.2,
        "shadow_ports": "20000-25000",
    }
    assert {name: table[name][0] for name in wanted} == wanted
    assert all(table[name][1] for name in wanted)
    assert FlowSettings() == FlowSettings(4096, 0.2, range(20000, 25001))
