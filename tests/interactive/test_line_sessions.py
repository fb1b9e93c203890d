"""Interactive jobs whose lines the broker carries, at this machine, with a real broker that dies (CB-BYP)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.interactive import SessionOptions, open_session, register_desk
from broker_core.client.prepare import prepare
from broker_core.errors import CrossDeskError
from broker_core.interactive.shadow.session_events import SessionState
from tests.broker.jobs import reach
from tests.interactive.pair import Screen
from tests.running import RunningBroker, processes_of
from tests.waiting import eventually

QUICK = SessionOptions(shortest_pause=0.02, longest_pause=0.2)
SHELL = "echo ready; while read line; do eval $line; done; echo over; exit 7"


@pytest.fixture
def quick(state_dir: Path) -> None:
    """Settings of the broker that is started next."""
    state_dir.mkdir(mode=0o700)
    (state_dir / "broker.toml").write_text("line_interval = 0.02\nline_idle_interval = 0.2\n")


@pytest.fixture
async def client(quick: None, running_broker: RunningBroker) -> AsyncIterator[BrokerClient]:
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


async def submitted(client: BrokerClient, script: str = SHELL, more: str = "") -> str:
    text = (
        f'Executable = "/bin/sh"; Interactive = true; InteractiveAgent = "lines"; '
        f"Arguments = \"-c '{script}'\"; {more}"
    )
    return (await client.submit_prepared(await prepare(text, Path("/")))).ids[0]


async def console(client: BrokerClient, job: str) -> Screen:
    screen = Screen(await open_session(client, job, QUICK))
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    return screen


async def test_lines_go_both_ways_and_the_exit_status_comes_back(client: BrokerClient) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    assert screen.session.status.mode == "lines"
    assert "No terminal" in screen.session.status.notice
    assert "the description asks for it" in screen.session.status.notice
    screen.session.write(b"echo $((6*7)); echo wrong >&2\n")
    await screen.shows(b"42\n")
    await screen.shows(b"wrong\n", stream=2)
    screen.session.end_input()
    await screen.ended()
    assert bytes(screen.streams[1]) == b"ready\n42\nover\n"
    assert screen.session.status.state is SessionState.CLOSED
    assert screen.session.status.exit_code == 7
    await screen.session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 7


async def test_a_desk_that_comes_after_the_end_of_a_short_job_still_gets_its_output(
    client: BrokerClient,
) -> None:
    await register_desk(client)
    job = await submitted(client, "echo ready; echo wrong >&2; exit 7")
    assert (await reach(client, job, "Done"))["exit_code"] == 7
    for _ in range(2):
        screen = Screen(await open_session(client, job, QUICK))
        await screen.ended()
        assert (bytes(screen.streams[1]), bytes(screen.streams[2])) == (b"ready\n", b"wrong\n")
        assert (screen.session.status.state, screen.session.status.exit_code) == (SessionState.CLOSED, 7)
        await screen.session.close()


async def test_typed_lines_arrive_once_and_in_order_over_many_deaths_of_the_broker(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    job = await submitted(client, "echo ready; while read line; do echo got $line; done")
    screen = await console(client, job)
    expected = b"ready\n"
    for number in range(60):
        screen.session.write(b"%d\n" % number)
        expected += b"got %d\n" % number
        if number % 20 == 7:
            running_broker.kill()
            running_broker.start()
    await eventually(lambda: len(screen.streams[1]) >= len(expected))
    await eventually(lambda: screen.session.status.unsent == 0)
    screen.session.end_input()
    await screen.ended()
    assert bytes(screen.streams[1]) == expected
    assert SessionState.BUFFERING in screen.states
    await screen.session.close()


async def test_a_part_of_a_line_goes_out_with_the_end_of_the_input(client: BrokerClient) -> None:
    job = await submitted(client, "echo ready; cat")
    screen = await console(client, job)
    screen.session.write(b"no enter")
    screen.session.end_input()
    await screen.ended()
    assert bytes(screen.streams[1]) == b"ready\nno enter"
    assert screen.session.status.exit_code == 0
    await screen.session.close()


async def test_a_flood_of_output_arrives_whole(client: BrokerClient, running_broker: RunningBroker) -> None:
    job = await submitted(client, "echo ready; seq 1 1000000; echo end")
    screen = Screen(await open_session(client, job, QUICK), keep=True)
    await screen.shows(b"500000\n")
    running_broker.kill()
    running_broker.start()
    await screen.ended(60)
    numbers = b"".join(b"%d\n" % number for number in range(1, 1_000_001))
    assert bytes(screen.streams[1]) == b"ready\n" + numbers + b"end\n"
    await screen.session.close()


async def test_a_second_desk_sees_what_was_written_and_can_take_the_input(client: BrokerClient) -> None:
    job = await submitted(client)
    first = await console(client, job)
    first.session.write(b"echo from the first\n")
    await first.shows(b"from the first\n")
    second = Screen(await open_session(client, job, QUICK))
    await second.shows(b"ready\nfrom the first\n")
    assert not second.session.status.writer
    assert not second.session.write(b"echo unheard\n")
    second.session.take()
    await eventually(lambda: second.session.status.writer and not first.session.status.writer)
    second.session.write(b"echo from the second; exit 3\n")
    await first.ended()
    await second.ended()
    assert bytes(first.streams[1]) == b"ready\nfrom the first\nfrom the second\n" == bytes(second.streams[1])
    for screen in (first, second):
        await screen.session.close()


async def test_a_signal_reaches_the_program_and_what_it_started(client: BrokerClient) -> None:
    job = await submitted(client, "echo ready; sleep 600; echo status $?; read line")
    screen = await console(client, job)
    screen.session.signal("INT")
    await screen.ended()
    assert screen.session.status.signal == 2
    await screen.session.close()


async def test_files_and_forwards_are_refused_with_the_reason(client: BrokerClient) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    beside = await open_session(client, job, SessionOptions(attached=False))
    with pytest.raises(CrossDeskError, match="No terminal: the plain agent is used"):
        await beside.connection()
    await beside.close()
    screen.session.end_input()
    await screen.ended()
    await screen.session.close()


async def test_nothing_of_a_session_is_left_on_the_broker_s_machine_and_no_secret_reaches_the_program(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    screen.session.write(b"env | grep -c CROSSDESK_SESSION; env | grep -c LACKING\n")
    await screen.shows(b"0\n0\n")
    assert os.listdir(running_broker.state_dir / "lines")
    screen.session.end_input()
    await screen.ended()
    await screen.session.close()
    await eventually(lambda: os.listdir(running_broker.state_dir / "lines") == [])


async def test_a_program_that_no_desk_looks_at_is_ended_with_the_reason(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    running_broker.kill()
    (running_broker.state_dir / "broker.toml").write_text("ca_retry_interval = 0.5\nca_max_retries = 2\n")
    running_broker.start()
    job = await submitted(client, "sleep 600")
    row = await reach(client, job, "Done", "Aborted")
    assert "No desk came back after 2 attempts" in row["reason"]
    late = Screen(await open_session(client, job))
    await late.ended()
    assert (late.session.status.state, late.session.status.reason) == (SessionState.DEAD, row["reason"])
    await late.session.close()


async def test_a_job_whose_plain_agent_is_killed_ends_and_leaves_no_process(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    job = await submitted(client)
    screen = await console(client, job)
    screen.session.write(b"echo agent=$PPID=\n")
    await screen.shows(b"agent=")
    await eventually(lambda: screen.streams[1].endswith(b"=\n"))
    os.kill(int(bytes(screen.streams[1]).rpartition(b"agent=")[2].partition(b"=")[0]), 9)
    row = await reach(client, job, "Done", "Aborted")
    assert row["signal"] == 9 or "SIGKILL" in row["reason"]
    await screen.ended()
    assert screen.session.status.state is SessionState.CLOSED
    await screen.session.close()
    attempts = running_broker.state_dir / "sites" / "local" / "attempts"
    assert processes_of(attempts) == set()


async def test_lines_that_were_typed_just_before_leaving_arrive(client: BrokerClient) -> None:
    job = await submitted(client, "echo ready; while read line; do echo got $line; done")
    screen = await console(client, job)
    for number in range(20):
        screen.session.write(b"%d\n" % number)
    await screen.session.close()
    later = await console(client, job)
    await later.shows(b"got 19\n")
    later.session.end_input()
    await later.ended()
    assert bytes(later.streams[1]) == b"ready\n" + b"".join(b"got %d\n" % number for number in range(20))
    await later.session.close()
