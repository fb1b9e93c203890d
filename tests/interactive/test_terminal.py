"""A program on a terminal as if it ran here: keys, size, signals, exit status, several desks (CB-I2G)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest

from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import Bench, Screen
from tests.interactive.terminals import SHELL, ready
from tests.running import ended
from tests.waiting import eventually

FOREGROUND = "sh -c 'echo ready; exec sleep 600'"
"""Says itself that it is there: a shell that said so may not have started it yet."""


async def test_keys_reach_the_program_and_its_exit_code_comes_back(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    assert screen.session.write(b"echo $((6 * 7)) $TERM\n")
    await screen.shows(b"42 xterm-256color")
    screen.session.write(b"\x04")
    await screen.ended()
    assert screen.session.status.state is SessionState.CLOSED
    assert screen.session.status.exit_code == 7
    assert made.agent is not None
    assert await made.agent.wait() == 7


async def test_the_size_of_the_terminal_follows_the_desk(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    screen.session.resize(123, 45)
    screen.session.write(b"stty size\n")
    await screen.shows(b"45 123")


@pytest.mark.parametrize("within", [(), ("env", "--ignore-signal=INT,HUP,QUIT")])
async def test_a_signal_from_the_desk_ends_what_runs_in_the_foreground(
    made: Bench, within: tuple[str, ...]
) -> None:
    await made.start_agent(
        ["/bin/sh", "-c", f"trap 'echo caught' INT; {FOREGROUND}; echo after; exit 3"], within=within
    )
    screen = await ready(made)
    screen.session.signal("INT")
    await screen.ended()
    assert b"caught" in screen.streams[1]
    assert b"after" in screen.streams[1]
    assert screen.session.status.exit_code == 3


async def test_the_signal_that_ended_the_program_is_told(made: Bench) -> None:
    await made.start_agent(["/bin/sh", "-c", "echo ready; kill -9 $$"])
    screen = Screen(made.desk())
    await screen.ended()
    assert (screen.session.status.exit_code, screen.session.status.signal) == (None, signal.SIGKILL)
    assert made.agent is not None
    assert await made.agent.wait() == -signal.SIGKILL


async def test_a_desk_that_comes_later_is_shown_past_output_first(made: Bench) -> None:
    await made.start_agent(SHELL)
    first = await ready(made)
    first.session.write(b"echo past\n")
    await first.shows(b"past")
    await first.session.close()
    second = await ready(made)
    assert b"past" in second.streams[1]
    second.session.write(b"echo live\n")
    await second.shows(b"live")
    assert second.states == [SessionState.STARTING, SessionState.DRAINING, SessionState.CONNECTED] or (
        second.states == [SessionState.DRAINING, SessionState.CONNECTED]
    )


async def test_several_desks_see_the_program_and_one_writes_until_another_takes_over(made: Bench) -> None:
    await made.start_agent(SHELL)
    first = await ready(made)
    second = Screen(made.desk())
    await second.shows(b"ready")
    await eventually(lambda: second.session.status.viewers == 2 and not second.session.status.writer)
    assert not second.session.write(b"echo not me\n")
    first.session.write(b"echo both see this\n")
    await second.shows(b"both see this")
    second.session.take()
    await eventually(lambda: second.session.status.writer and not first.session.status.writer)
    second.session.write(b"echo handed over\n")
    await first.shows(b"handed over")
    assert b"not me" not in first.streams[1]


async def test_a_program_that_is_missing_ends_as_in_a_shell(made: Bench) -> None:
    await made.start_agent(["/no/such/program"])
    assert made.agent is not None
    assert await made.agent.wait() == 127


async def test_the_agent_listens_nowhere_and_leaves_nothing(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    assert made.agent is not None
    listening = subprocess.run(["ss", "-Hlntuxp"], capture_output=True, text=True, check=True).stdout
    assert f"pid={made.agent.pid}," not in listening
    screen.session.write(b"exit 0\n")
    await screen.ended()
    await made.agent.wait()
    assert os.listdir(made.job.parent) == ["job"]
    assert os.listdir(made.job) == []


async def test_the_program_outlives_a_desk_that_is_killed(made: Bench) -> None:
    await made.start_agent(SHELL)
    first = await ready(made)
    link = first.session._link
    assert link is not None
    first.session._task.cancel()
    link.connection.abort()
    second = await ready(made)
    second.session.write(b"echo still here\n")
    await second.shows(b"still here")


async def test_a_relay_that_is_killed_and_comes_back_costs_nothing_but_time(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = await ready(made)
    assert made.relay is not None
    made.relay.kill()
    await made.relay.wait()
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)
    assert screen.session.write(b"echo typed while away\n")
    await made.start_relay("--port", str(made.place.port))
    await screen.shows(b"typed while away")
    await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
    assert bytes(screen.streams[1]).count(b"typed while away") == 1


async def test_an_agent_that_is_killed_ends_its_program_and_the_session(made: Bench) -> None:
    await made.start_agent(["/bin/sh", "-c", "echo ready; echo pid=$$; sleep 600"])
    screen = await ready(made)
    await screen.shows(b"pid=")
    program = int(bytes(screen.streams[1]).partition(b"pid=")[2].split()[0])
    assert made.agent is not None
    made.agent.kill()
    await made.agent.wait()
    await screen.ended()
    assert screen.session.status.state is SessionState.CLOSED
    assert "ended" in screen.session.status.reason
    await eventually(lambda: ended(program))


@pytest.mark.parametrize("wish", ["resize", "signal", "eof"])
async def test_only_the_desk_that_writes_steers_the_program(made: Bench, wish: str) -> None:
    await made.start_agent(["/bin/sh", "-c", "stty size; echo ready; cat; echo over"])
    await ready(made)
    second = Screen(made.desk())
    await second.shows(b"ready")
    if wish == "resize":
        second.session.resize(33, 33)
    elif wish == "signal":
        second.session.signal("TERM")
    else:
        second.session.end_input()
    await asyncio.sleep(0)
    second.session.take()
    await eventually(lambda: second.session.status.writer)
    second.session.write(b"alive\n")
    await second.shows(b"alive")
    assert b"over" not in second.streams[1]
