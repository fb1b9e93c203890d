"""What moves an agent's session besides its desks: timers, and desks that leave in the middle of something.

The program, the desks and the passing of time are stand-ins here, so that each moment is the one meant.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from broker_core.interactive.channel.frames import FrameReader, read_word, word
from broker_core.worker.agent_program import STDOUT, UserProgram
from broker_core.worker.agent_session import BEHIND, LAST_WORDS, AgentSession
from broker_core.worker.agent_settings import LINES, TERMINAL, AgentSettings
from broker_core.worker.agent_states import State
from broker_core.worker.agent_viewer import Viewer
from tests.waiting import eventually

INTERVAL = 1000.0


class Told:
    """Stands for a program: says what it is told, and writes what it is asked to."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.listened, self.killed = True, False
        self.hungry: Callable[[], None] = lambda: None

    def run(self, heard: Callable[[int, bytes], None], ended: Callable[[], None]) -> None:
        self.writes, self.ended = heard, ended

    def listen(self, wanted: bool) -> None:
        self.listened = wanted

    def signal(self, number: int) -> None:
        self.status = -number

    def kill(self) -> None:
        self.killed = True


class Desk:
    """Stands for a desk that is connected: how far behind it is can be set."""

    def __init__(self, name: str) -> None:
        self.desk, self.behind = name, 0

    def pump(self) -> None: ...

    def tell(self, what: str, **values: Any) -> None: ...

    def lag(self) -> int:
        return self.behind

    def complete(self) -> bool:
        return not self.behind

    def close(self) -> None: ...


class Channel:
    """Stands for an SSH channel, which raises where nothing can be written any more."""

    def __init__(self) -> None:
        self.closing, self.written = False, b""

    def get_connection(self) -> None: ...

    def set_write_buffer_limits(self, **limits: int) -> None: ...

    def is_closing(self) -> bool:
        return self.closing

    def write(self, data: bytes) -> None:
        if self.closing:
            raise BrokenPipeError("Channel not open for sending")
        self.written += data

    @property
    def words(self) -> list[dict[str, Any]]:
        return [read_word(content) for kind, content in FrameReader().feed(self.written) if kind == b"w"]


class Hours:
    """Lets time pass for the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._clock, self._ahead = loop.time, 0.0
        loop.time = lambda: self._clock() + self._ahead  # type: ignore[method-assign]
        self._loop = loop

    async def pass_by(self, seconds: float) -> None:
        self._ahead += seconds
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture
async def hours() -> Hours:
    return Hours(asyncio.get_running_loop())


def session_of(folder: Path, mode: str = LINES, **settings: Any) -> tuple[AgentSession, Told]:
    told = Told()
    given = {"token": "t", "places": (), "keys": (), "mode": mode, "retry_interval": INTERVAL, **settings}
    session = AgentSession(AgentSettings(**given), cast(UserProgram, told), folder)
    session.run()
    return session, told


async def test_a_desk_that_leaves_gives_the_whole_interval_to_come_back(tmp_path: Path, hours: Hours) -> None:
    session, told = session_of(tmp_path, max_retries=1)
    desk = Desk("first")
    session.attach(desk, write=True)
    await hours.pass_by(INTERVAL * 0.9)
    session.detach(desk)
    await hours.pass_by(INTERVAL * 0.8)
    assert (session.machine.state, told.killed) == (State.BUFFERING, False)
    await hours.pass_by(INTERVAL * 0.3)
    assert (session.machine.state, told.killed) == (State.DEAD, True)


async def test_intervals_are_counted_one_after_the_other(tmp_path: Path, hours: Hours) -> None:
    session, told = session_of(tmp_path, max_retries=3)
    for expected in (1, 2):
        await hours.pass_by(INTERVAL * 1.01)
        assert (session.machine.retries, told.killed) == (expected, False)
    await hours.pass_by(INTERVAL * 1.01)
    assert told.killed


async def test_a_connection_that_breaks_before_the_last_word_keeps_no_agent_that_has_nothing_left(
    tmp_path: Path, hours: Hours
) -> None:
    session, told = session_of(tmp_path, max_retries=60, linger=INTERVAL / 2)
    desk = Desk("desk")
    session.attach(desk, write=True)
    told.writes(STDOUT, b"all of it")
    told.status = 0
    told.ended()
    session.confirm(STDOUT, len(b"all of it"))
    session.detach(desk)
    assert not session.over.is_set(), "the desk may come back for the end"
    await hours.pass_by(INTERVAL * 0.6)
    assert session.over.is_set()
    assert session.machine.state is not State.DEAD


@pytest.mark.parametrize("mode", [LINES, TERMINAL])
async def test_a_program_that_wrote_nothing_to_its_console_keeps_no_job(
    mode: str, tmp_path: Path, hours: Hours
) -> None:
    """As one that draws on its display: no desk has anything to fetch."""
    session, told = session_of(tmp_path, mode=mode, linger=INTERVAL)
    told.status = 0
    told.ended()
    assert not session.over.is_set()
    await hours.pass_by(LAST_WORDS * 1.1)
    assert session.over.is_set()


async def test_output_that_no_desk_has_is_kept_for_all_attempts(tmp_path: Path, hours: Hours) -> None:
    session, told = session_of(tmp_path, max_retries=3, linger=INTERVAL / 2)
    desk = Desk("desk")
    session.attach(desk, write=True)
    told.writes(STDOUT, b"all of it")
    told.status = 0
    told.ended()
    session.confirm(STDOUT, len(b"all of"))
    session.detach(desk)
    for _ in range(2):
        await hours.pass_by(INTERVAL * 1.01)
        assert not session.over.is_set()
    await hours.pass_by(INTERVAL * 1.01)
    assert session.over.is_set()


@pytest.mark.parametrize("mode", [LINES, TERMINAL])
async def test_a_program_goes_on_when_the_slow_desk_that_it_waits_for_leaves(
    tmp_path: Path, mode: str
) -> None:
    session, told = session_of(tmp_path, mode)
    slow, other = Desk("slow"), Desk("other")
    session.attach(slow, write=True)
    session.attach(other, write=False)
    slow.behind = BEHIND + 1
    told.writes(STDOUT, b"much")
    assert not told.listened, "it waits for the desk that writes"
    session.detach(slow)
    assert told.listened


async def test_a_program_goes_on_when_another_desk_takes_the_input_from_a_slow_one(tmp_path: Path) -> None:
    session, told = session_of(tmp_path, TERMINAL)
    slow, other = Desk("slow"), Desk("other")
    session.attach(slow, write=True)
    session.attach(other, write=False)
    slow.behind = BEHIND + 1
    told.writes(STDOUT, b"much")
    assert not told.listened
    session.take(other)
    assert told.listened


async def test_a_desk_that_is_just_leaving_costs_others_nothing(tmp_path: Path) -> None:
    session, told = session_of(tmp_path, TERMINAL)
    channels = {name: Channel() for name in ("leaving", "staying")}
    for name, channel in channels.items():
        viewer = Viewer(session)
        viewer.connection_made(cast(Any, channel))
        viewer.data_received(word("hello", desk=name, resume={}), None)
    channels["leaving"].closing = True
    told.writes(STDOUT, b"the last words")
    assert b"the last words" in channels["staying"].written
    told.status = 5
    told.ended()
    assert channels["staying"].words[-1]["what"] == "end"
    assert session.ended


async def test_a_desk_that_was_told_of_a_gap_at_the_end_has_all_there_is(tmp_path: Path) -> None:
    session, told = session_of(tmp_path, TERMINAL, replay=0)
    channel, viewer = Channel(), Viewer(session)
    viewer.connection_made(cast(Any, channel))
    viewer.data_received(word("hello", desk="desk", resume={}), None)
    viewer.pause_writing()
    told.writes(STDOUT, b"nobody keeps it")
    told.status = 0
    told.ended()
    viewer.resume_writing()
    assert [one["what"] for one in channel.words][-2:] == ["gap", "end"]
    viewer.data_received(word("done"), None)
    assert session.over.is_set()


@pytest.fixture
def ended_programs() -> Iterator[list[UserProgram]]:
    made: list[UserProgram] = []
    yield made
    for program in made:
        program.close()


@pytest.mark.parametrize("terminal", [False, True])
async def test_what_a_program_left_is_heard_at_its_end_though_it_had_to_wait(
    tmp_path: Path, terminal: bool, ended_programs: list[UserProgram]
) -> None:
    written = tmp_path / "written"
    script = f"import os; os.write(1, b'x' * 3000); open({str(written)!r}, 'w').close(); os.read(0, 1)"
    words = [sys.executable, "-c", script]
    program = UserProgram(words, dict(os.environ), terminal=terminal, size=(80, 24))
    ended_programs.append(program)
    heard, ended = bytearray(), asyncio.Event()
    program.run(lambda stream, data: heard.extend(data), ended.set)
    program.listen(False)
    await eventually(written.exists)
    program.signal(signal.SIGKILL)
    await eventually(ended.is_set)
    assert bytes(heard) == b"x" * 3000


async def test_a_number_that_was_a_program_s_is_never_sent_a_signal(
    monkeypatch: pytest.MonkeyPatch, ended_programs: list[UserProgram]
) -> None:
    program = UserProgram(["/bin/true"], dict(os.environ), terminal=False, size=(80, 24))
    ended_programs.append(program)
    ended = asyncio.Event()
    program.run(lambda stream, data: None, ended.set)
    await eventually(ended.is_set)
    sent: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: sent.append(group))
    program.signal(signal.SIGTERM)
    program.kill()
    assert sent == []
