"""Output that the node did not keep: desks are told where it is missing; what they have stays in place."""

from __future__ import annotations

import asyncio

from broker_core.interactive.shadow.session_events import Event, Gap, OutputReceived
from tests.interactive.pair import Bench
from tests.interactive.terminals import ready
from tests.waiting import LONG, eventually, within


async def test_a_desk_that_falls_far_behind_is_told_what_it_misses(made: Bench) -> None:
    size = 6_000_000
    script = f"echo ready; read go; head -c {size} /dev/zero; echo; read end; exit 4"
    await made.start_agent(["/bin/sh", "-c", f"stty raw -echo; {script}"], replay=1_000_000)
    quick = await ready(made)
    slow = made.desk()
    await eventually(lambda: slow.status.viewers == 2)
    quick.session.write(b"go\n")
    await eventually(lambda: quick.sizes[1] > size)
    place = missing = 0
    async for event in slow.events():
        if isinstance(event, Gap):
            assert event.start == place
            place, missing = event.end, missing + event.end - event.start
        elif isinstance(event, OutputReceived):
            assert event.offset == place
            place += len(event.data)
        if place == quick.sizes[1]:
            break
    assert missing > 0
    quick.session.write(b"end\n")
    await quick.ended()


async def test_a_line_that_is_held_back_is_shown_before_what_is_missing(made: Bench) -> None:
    session = made.desk()
    session._telling.output(1, 0, b"half a line", by_lines=True)
    session.word({"what": "gap", "stream": 1, "start": 11, "end": 100})
    session._telling.output(1, 100, b"whole\n", by_lines=True)
    shown: list[Event] = []
    async for event in session.events():
        if isinstance(event, OutputReceived | Gap):
            shown.append(event)
        if len(shown) == 3:
            break
    assert shown == [
        OutputReceived(1, 0, b"half a line"),
        Gap(1, 11, 100),
        OutputReceived(1, 100, b"whole\n"),
    ]


async def test_who_reads_a_session_that_is_closed_here_waits_for_nothing_more(made: Bench) -> None:
    session = made.desk()
    session._telling.output(1, 0, b"said before", by_lines=False)

    async def read() -> list[bytes]:
        return [event.data async for event in session.events() if isinstance(event, OutputReceived)]

    reading = asyncio.create_task(read())
    await session.close()
    assert await within(reading, LONG) == [b"said before"]
