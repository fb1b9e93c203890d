"""Whose input counts when connections break: nobody gets it by chance, and nothing typed in vain is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.interactive.channel.contact import Contact
from broker_core.interactive.sessions.line_carrier import GONE, RelayedLines
from broker_core.interactive.sessions.line_journal import LineJournal
from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import SessionState
from broker_core.jobs.placement import Component
from tests.interactive.pair import QUICK, Bench, Screen
from tests.interactive.terminals import SHELL
from tests.interactive.wire import Wire
from tests.waiting import eventually


class Way:
    """A desk with a stretch of network of its own."""

    def __init__(self, made: Bench) -> None:
        self._made = made
        self.wire = Wire(made.place)

    async def open(self) -> Screen:
        place = await self.wire.open()

        async def introduce() -> Contact:
            return replace(await self._made.contact(), places=(place,))

        session = ShadowSession(introduce, self._made.key, QUICK)
        self._made.sessions.append(session)
        session.start()
        self.screen = Screen(session)
        await self.screen.shows(b"ready")
        return self.screen

    async def break_off(self) -> None:
        self.wire.up = False
        self.wire.cut()
        await eventually(lambda: self.screen.session.status.state is SessionState.BUFFERING)

    async def mend(self) -> None:
        self.wire.up = True
        await eventually(lambda: self.screen.session.status.state is SessionState.CONNECTED)


@pytest.fixture
async def ways(made: Bench) -> AsyncIterator[tuple[Way, Way]]:
    """The first one writes."""
    await made.start_agent(SHELL)
    first, second = Way(made), Way(made)
    writing = await first.open()
    await eventually(lambda: writing.session.status.writer)
    await second.open()
    yield first, second
    for way in (first, second):
        await way.wire.close()


async def test_a_cut_of_everybody_leaves_the_input_where_it_was(ways: tuple[Way, Way]) -> None:
    first, second = ways
    await first.break_off()
    await eventually(lambda: second.screen.session.status.viewers == 1)
    await second.break_off()
    await second.mend()
    await first.mend()
    await eventually(lambda: first.screen.session.status.writer)
    assert not second.screen.session.status.writer
    first.screen.session.write(b"echo $((6*7))\n")
    await second.screen.shows(b"42")


async def test_who_looks_on_is_told_when_nobody_has_the_input_any_more(ways: tuple[Way, Way]) -> None:
    first, second = (way.screen.session for way in ways)
    assert second.status.taken
    await first.close()
    await eventually(lambda: not second.status.taken)
    assert not second.status.writer
    second.take()
    await eventually(lambda: second.status.writer and second.status.taken)


async def test_what_is_typed_in_the_dark_by_who_has_not_the_input_goes_nowhere(ways: tuple[Way, Way]) -> None:
    _, second = ways
    await second.break_off()
    second.screen.session.write(b"echo in vain\n")
    await second.mend()
    await eventually(lambda: second.screen.session.status.unsent == 0)
    second.screen.session.take()
    await eventually(lambda: second.screen.session.status.writer)
    second.screen.session.write(b"echo $((6*7))\n")
    await second.screen.shows(b"42")
    assert b"in vain" not in second.screen.streams[1]


async def test_after_a_restart_of_the_broker_another_desk_does_not_get_the_input_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = LineJournal(tmp_path / "one")
    journal.give_to("writer")
    now = 1000.0
    monkeypatch.setattr("broker_core.interactive.sessions.line_carrier.time.monotonic", lambda: now)
    carrier = RelayedLines(Component("job", 1), ("out", "err"), journal)
    await carrier.come("other", write=True)
    assert journal.writer == "writer"
    now += GONE + 1.0
    await carrier.come("other", write=True)
    assert journal.writer == "other", "the writer has not come back"
    journal.close()
