"""A console that stays open while its job is started a second time shows the new program from its start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.interactive.channel.contact import Contact
from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import OutputReceived
from tests.interactive.pair import QUICK, Bench, bench
from tests.waiting import eventually


@pytest.mark.parametrize("mode", ["terminal", "lines"])
async def test_the_second_attempt_is_shown_and_typed_at(made: Bench, tmp_path: Path, mode: str) -> None:
    script = "echo {0}; while read word; do echo {0} $word; done"
    first = script.format("the first of them, which says more")
    await made.start_agent(["/bin/sh", "-c", first], mode=mode)
    attempts = [made]

    async def introduce() -> Contact:
        return replace(await attempts[-1].contact(), attempt=len(attempts))

    session = ShadowSession(introduce, made.key, QUICK)
    made.sessions.append(session)
    session.start()
    shown, offsets = bytearray(), []
    events = session.events()

    async def shows(text: bytes) -> None:
        async for event in events:
            if isinstance(event, OutputReceived):
                offsets.append(event.offset)
                shown.extend(event.data)
            if text in shown:
                return

    await shows(b"says more")
    await eventually(lambda: session.status.writer)
    session.write(b"hello\n")
    await shows(b"more hello")
    async with bench(tmp_path) as second:
        second.key = made.key
        assert made.agent is not None
        await second.start_agent(["/bin/sh", "-c", script.format("second")], mode=mode)
        attempts.append(second)
        made.agent.kill()
        await shows(b"second")
        await eventually(lambda: session.status.writer and session.status.attempt == 2)
        session.write(b"again\n")
        await shows(b"second again")
        assert 0 in offsets[1:]
        await session.close()
