"""Several desks of one job: the input changes hands, and each gets all output."""

from __future__ import annotations

import asyncio
import sys

from broker_core.interactive.shadow.input import InputTurn
from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import Bench, Screen
from tests.interactive.terminals import SHELL, ready
from tests.waiting import eventually

READS_LATE = """
import sys, time, pathlib
print('ready', flush=True)
while not pathlib.Path('go').exists():
    time.sleep(0.02)
while line := sys.stdin.readline():
    print('got', len(line), line[:6].strip(), flush=True)
"""


async def test_who_types_while_another_desk_takes_the_input_stays_connected(made: Bench) -> None:
    await made.start_agent(SHELL)
    first = await ready(made)
    second = Screen(made.desk())
    await second.shows(b"ready")
    await eventually(lambda: second.session.status.mode)
    second.session.take()
    await eventually(lambda: second.session.status.writer)
    link = first.session._link
    assert link is not None
    # As if both pieces had been under way when the other desk took over.
    sent = first.session.status.sent
    link.type(sent, b"echo one\n")
    link.type(sent + 9, b"echo two\n")
    second.session.write(b"echo thr$((1+1))ee\n")
    await first.shows(b"thr2ee")
    assert SessionState.BUFFERING not in first.states
    first.session.take()
    await eventually(lambda: first.session.status.writer)
    first.session.write(b"echo fo$((1+1))ur; exit 3\n")
    await first.shows(b"fo2ur")
    assert b"one" not in first.streams[1]


async def test_who_had_to_wait_with_typing_can_type_after_the_input_came_back(made: Bench) -> None:
    await made.start_agent([sys.executable, "-c", READS_LATE], mode="lines")
    first = await ready(made)
    long = b"x" * 1022 + b"\n"
    for _ in range(600):
        assert first.session.write(long)
    await eventually(lambda: first.session.input._turn is InputTurn.HELD)
    second = Screen(made.desk())
    await second.shows(b"ready")
    second.session.take()
    await eventually(lambda: second.session.status.writer)
    await eventually(lambda: not first.session.status.writer)
    (made.job / "go").touch()
    await second.shows(b"got")
    second.session.write(b"second\n")
    await second.shows(b"got 7 second")
    first.session.take()
    await eventually(lambda: first.session.status.writer)
    first.session.write(b"first\n")
    await first.shows(b"got 6 first")


async def test_a_desk_that_is_slow_gets_the_last_byte_too(made: Bench) -> None:
    size = 6_000_000
    script = f"echo ready; read go; head -c {size} /dev/zero; exit 4"
    # Many intervals pass while the slow one reads: attempts to reach desks are over, and end nothing.
    await made.start_agent(["/bin/sh", "-c", f"stty raw -echo; {script}"], retry_interval=0.002)
    quick = await ready(made)
    slow = made.desk()
    events = slow.events()
    got = 0
    async for event in events:
        got += len(getattr(event, "data", b""))
        if got >= 5 and slow.status.state is SessionState.CONNECTED:
            break
    quick.session.write(b"go\n")
    await quick.ended()
    await quick.session.close()
    async with asyncio.timeout(60):
        async for event in events:
            got += len(getattr(event, "data", b""))
    assert got == size + len(b"ready\n")
    assert slow.status.exit_code == 4
