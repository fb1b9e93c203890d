"""The rules of the Bypass agent and its parts, one by one (CB-BYP-03 to CB-BYP-06)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from broker_core.interactive.channel.frames import BadFrame, FrameReader, keys, output, read_place, word
from broker_core.interactive.shadow.event_buffer import Flushing
from broker_core.interactive.shadow.input import DeskInput, LineInput
from broker_core.worker.agent_spool import SEGMENT, OutputSpool
from broker_core.worker.agent_states import Event, Machine, State

S, E = State, Event
TABLE = [
    ([E.CONNECTED, E.DRAINED, E.WRITE], S.CONNECTED),
    ([E.CONNECTED, E.DRAINED, E.SEND_FAILED], S.BUFFERING),
    ([E.WRITE], S.BUFFERING),
    ([E.CONNECT_FAILED], S.BUFFERING),
    ([E.CONNECTED], S.DRAINING),
    ([E.CONNECTED, E.DRAINED], S.CONNECTED),
    ([E.CONNECTED, E.SEND_FAILED], S.BUFFERING),
    ([E.CONNECT_FAILED] * 3, S.DEAD),
    ([E.CONNECTED, E.DRAINED, E.PROGRAM_ENDED], S.CLOSED),
    ([E.PROGRAM_ENDED], S.BUFFERING),
    ([E.PROGRAM_ENDED, E.CONNECTED], S.DRAINING),
    ([E.PROGRAM_ENDED, E.CONNECTED, E.DRAINED], S.CLOSED),
    ([E.PROGRAM_ENDED] + [E.CONNECT_FAILED] * 3, S.CLOSED),
    ([E.CONNECT_FAILED] * 2 + [E.CONNECTED, E.SEND_FAILED] + [E.CONNECT_FAILED] * 2, S.BUFFERING),
]


@pytest.mark.parametrize(("events", "state"), TABLE)
def test_the_agent_follows_its_table(events: list[Event], state: State) -> None:
    machine = Machine(3)
    for event in events:
        machine.on(event)
    assert machine.state is state


@pytest.mark.parametrize("last", [S.DEAD, S.CLOSED])
def test_nothing_leads_out_of_the_ends(last: State) -> None:
    for event in Event:
        machine = Machine(1)
        machine.on(E.CONNECT_FAILED if last is S.DEAD else E.PROGRAM_ENDED)
        if last is S.CLOSED:
            machine.on(E.CONNECT_FAILED)
        assert machine.on(event) is last


def test_without_a_limit_the_agent_tries_for_ever() -> None:
    machine = Machine(0)
    for _ in range(1000):
        machine.on(E.CONNECT_FAILED)
    assert (machine.state, machine.retries) == (S.BUFFERING, 1000)


@pytest.mark.parametrize("seed", range(5))
def test_a_spool_gives_back_what_it_took_from_memory_and_from_disk(tmp_path: Path, seed: int) -> None:
    chance, spool, whole = random.Random(seed), OutputSpool(tmp_path, "s", 100_000), bytearray()
    for _ in range(300):
        data = chance.randbytes(chance.choice((1, 100, 5000, 200_000)))
        spool.append(data)
        whole += data
        place = chance.randrange(spool.start, spool.end)
        found = spool.read(place, 70_000)
        assert found
        assert found == whole[place : place + len(found)]
        if chance.random() < 0.2:
            spool.forget(chance.randrange(spool.start, spool.end))
    assert spool.end == len(whole)
    assert spool.on_disk <= spool.end - spool.start + SEGMENT + 300_000
    spool.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path / "gone", "s", 10)
    spool.append(b"a" * 60_000)
    with pytest.raises(OSError, match="No such file"):
        spool.append(b"b" * 60_000)
    assert spool.read(59_999, 2) == b"ab"
    (tmp_path / "gone").mkdir()
    spool.spill()
    assert spool.read(59_999, 1) + spool.read(60_000, 1) == b"ab"
    spool.remove()


def test_input_is_sent_again_after_a_cut_and_never_twice() -> None:
    waiting = DeskInput()
    waiting.add(b"abcdef")
    assert waiting.next() == (0, b"abcdef")
    waiting.confirm(2)
    waiting.add(b"gh")
    waiting.reconnect(4)
    assert waiting.next() == (4, b"efgh")
    assert waiting.next() == (8, b"")
    waiting.confirm(8)
    assert waiting.unsent == 0


def test_lines_go_out_at_enter() -> None:
    typed = LineInput()
    assert typed.type(b"on") == b""
    assert typed.type(b"e\ntw") == b"one\n"
    assert typed.line == b"tw"


def test_output_is_shown_at_the_end_of_a_line_when_there_is_much_and_in_time() -> None:
    held = Flushing(size=10)
    assert held.add(b"name? ") == b""
    assert held.flush() == b"name? "
    assert held.add(b"one\ntw") == b"one\n"
    assert held.add(b"o, and much more") == b"two, and much more"
    assert held.size == 0


def test_frames_are_read_however_they_are_cut() -> None:
    sent = word("hello", n=1) + output(1, 2**40, b"x" * 1000) + keys(7, b"")
    reader, found = FrameReader(), []
    for byte in sent:
        found += list(reader.feed(bytes([byte])))
    assert [kind for kind, _ in found] == [b"w", b"o", b"i"]
    assert read_place(found[1][1]) == (1, 2**40, b"x" * 1000)


@pytest.mark.parametrize("noise", [b"x\0\0\0\1a", b"o\xff\xff\xff\xff", b"SSH-2.0-OpenSSH"])
def test_what_is_no_frame_is_refused(noise: bytes) -> None:
    with pytest.raises(BadFrame):
        list(FrameReader().feed(noise))
