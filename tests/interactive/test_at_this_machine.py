"""Interactive jobs from the description to the console, at this machine, with a real broker."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.interactive.shadow.session_events import SessionState
from tests.broker.jobs import reach
from tests.interactive.consoles import console, submitted
from tests.interactive.pair import Screen
from tests.running import RunningBroker
from tests.waiting import eventually


@pytest.fixture
async def client(running_broker: RunningBroker) -> AsyncIterator[BrokerClient]:
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


async def test_an_interactive_job_is_a_program_at_the_desk(client: BrokerClient) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    screen.session.write(b"echo $((6*7))\n")
    await screen.shows(b"42")
    screen.session.write(b"\x04")
    await screen.ended()
    assert screen.session.status.exit_code == 7
    await screen.session.close()
    row = await reach(client, job, "Done")
    assert row["exit_code"] == 7
    story = {event.type: event.details for event in await client.events_of(job)}
    assert story["job.agent_ready"]["fingerprint"] == screen.session.status.fingerprint
    late = Screen(await open_session(client, job))
    await late.ended()
    assert (late.session.status.exit_code, late.session.status.reason) == (7, "The job has ended.")
    await late.session.close()


async def test_many_who_ask_at_once_have_the_agent_in_the_story_once(client: BrokerClient) -> None:
    job = await submitted(client)
    await asyncio.gather(*(client.session_contact(job, 10.0) for _ in range(12)))
    screen = await console(client, job)
    screen.session.write(b"\x04")
    await screen.ended()
    await reach(client, job, "Done")
    told = [event for event in await client.events_of(job) if event.type == "job.agent_ready"]
    assert len(told) == 1


def command_lines() -> Iterator[bytes]:
    """Of all processes of this machine, some of which end meanwhile."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            yield Path(f"/proc/{pid}/cmdline").read_bytes()


async def test_the_token_and_the_keys_are_in_no_process_list_and_no_variable_of_the_program(
    client: BrokerClient,
) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    token = (await client.session_contact(job)).token
    shown = list(command_lines())
    assert not [line for line in shown if token.encode() in line]
    screen.session.write(b"env | grep -c CROSSDESK_SESSION; echo over\n")
    await screen.shows(b"\nover\r\n")
    assert b"\n0\r\n" in screen.streams[1]
    await client.cancel([job])
    await reach(client, job, "Canceled")
    await screen.ended()
    await screen.session.close()


async def test_broker_and_relay_are_killed_and_the_session_goes_on(
    running_broker: RunningBroker, client: BrokerClient
) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    running_broker.kill()
    screen.session.write(b"echo without a broker\n")
    await screen.shows(b"without a broker\r\nwithout a broker")
    running_broker.start()
    relay = running_broker.state_dir / "relay.json"
    os.kill(int(relay.read_text().partition('"pid": ')[2].rstrip("}")), 9)
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)
    screen.session.write(b"echo with another relay\n")
    await screen.shows(b"with another relay\r\nwith another relay")
    screen.session.write(b"exit 5\n")
    await screen.ended()
    assert screen.session.status.exit_code == 5
    await screen.session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 5


async def test_a_job_whose_agent_is_killed_ends_with_a_reason_and_leaves_no_process(
    client: BrokerClient,
) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    screen.session.write(b"echo agent=$PPID=\n")
    told = re.compile(rb"\nagent=(\d+)=")
    os.kill(int((await eventually(lambda: told.search(screen.streams[1])))[1]), 9)
    row = await reach(client, job, "Done", "Aborted")
    assert row["signal"] == 9 or "SIGKILL" in row["reason"]
    await screen.ended()
    assert screen.session.status.state is SessionState.CLOSED
    await screen.session.close()


async def test_a_job_that_nobody_watches_is_ended_by_the_bypass_agent_with_the_reason(
    running_broker: RunningBroker, client: BrokerClient
) -> None:
    running_broker.kill()
    (running_broker.state_dir / "broker.toml").write_text("ca_retry_interval = 0.1\nca_max_retries = 3\n")
    running_broker.start()
    job = await submitted(client, 'Arguments = "-c \'sleep 600\'"; InteractiveAgent = "bypass";')
    row = await reach(client, job, "Done", "Aborted")
    assert "No desk came back after 3 attempts" in row["reason"]
    late = Screen(await open_session(client, job))
    await late.ended()
    assert (late.session.status.state, late.session.status.reason) == (SessionState.DEAD, row["reason"])
    await late.session.close()


async def test_a_batch_job_has_no_session(client: BrokerClient) -> None:
    text = 'Executable = "/bin/true";'
    job = (await client.submit_prepared(await prepare(text, Path("/")))).ids[0]
    screen = Screen(await open_session(client, job))
    await screen.ended()
    assert screen.session.status.state is SessionState.REFUSED
    assert "not interactive" in screen.session.status.reason
    await screen.session.close()
