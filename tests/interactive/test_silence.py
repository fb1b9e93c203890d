"""An agent that does not answer is told as such, long before its connection counts as broken."""

from __future__ import annotations

import signal
from dataclasses import replace

from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import QUICK, Bench, Screen
from tests.interactive.terminals import SHELL
from tests.waiting import eventually

SOON = replace(QUICK, answer_time=0.2)


async def connected(made: Bench) -> Screen:
    await made.start_agent(SHELL)
    screen = Screen(made.desk(SOON))
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    return screen


async def test_a_silent_agent_is_told_and_forgotten_when_it_answers(made: Bench) -> None:
    screen = await connected(made)
    assert made.agent is not None
    made.agent.send_signal(signal.SIGSTOP)
    await eventually(lambda: screen.session.status.silent >= 2, what="nobody types, and it is told")
    assert screen.session.status.state is SessionState.CONNECTED
    made.agent.send_signal(signal.SIGCONT)
    await eventually(lambda: screen.session.status.silent == 0, what="it answers again")
    screen.session.write(b"echo $((6*7))\n")
    await screen.shows(b"42")
    assert SessionState.BUFFERING not in screen.states


async def test_a_desk_that_only_looks_hears_of_the_silence_too(made: Bench) -> None:
    await connected(made)
    watching = Screen(made.desk(replace(SOON, write=False)))
    await watching.shows(b"ready")
    assert made.agent is not None
    made.agent.send_signal(signal.SIGSTOP)
    await eventually(lambda: watching.session.status.silent)
    made.agent.send_signal(signal.SIGCONT)
    await eventually(lambda: not watching.session.status.silent)
    assert watching.session.status.state is SessionState.CONNECTED


async def test_a_new_connection_is_made_on_demand_and_what_was_typed_arrives_once(made: Bench) -> None:
    screen = await connected(made)
    assert made.relay is not None
    made.relay.send_signal(signal.SIGSTOP)
    screen.session.write(b"echo typed in the dark\n")
    await eventually(lambda: screen.session.status.silent)
    await eventually(lambda: screen.session.status.unsent == len(b"echo typed in the dark\n"))
    screen.session.reconnect()
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)
    assert screen.session.status.silent == 0
    made.relay.send_signal(signal.SIGCONT)
    await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
    await screen.shows(b"typed in the dark")
    screen.session.write(b"exit 3\n")
    await screen.ended()
    assert bytes(screen.streams[1]).count(b"typed in the dark") == 1


async def test_an_attempt_that_hangs_is_given_up_for_another_one_on_demand(made: Bench) -> None:
    await made.start_agent(SHELL)
    screen = Screen(made.desk(replace(SOON, meeting_time=600.0)))
    await screen.shows(b"ready")
    assert made.relay is not None
    made.relay.send_signal(signal.SIGSTOP)
    await eventually(lambda: screen.session.status.silent)
    screen.session.reconnect()
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)

    def another() -> bool:
        screen.session.reconnect()
        return screen.session.status.retries >= 2

    await eventually(another, what="others are made")
    made.relay.send_signal(signal.SIGCONT)
    await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
