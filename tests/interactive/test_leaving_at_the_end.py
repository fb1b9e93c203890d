"""A desk that leaves as soon as it has the end of a program does not keep its job waiting."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.interactive.pair import bench
from tests.waiting import within

AT_ONCE, TURNS = 4, 6
SOON = 30.0
"""Seconds; an agent whose desk has not told it that it has all of the output stays for 60."""


async def test_a_job_ends_with_its_program_where_the_desk_leaves_at_once(tmp_path: Path) -> None:
    async def turn(folder: Path) -> None:
        folder.mkdir(parents=True)
        async with bench(folder) as made:
            await made.start_agent(["/bin/echo", "ready"])
            session = made.desk()
            async for _ in session.events():
                pass
            await session.close()
            assert session.status.exit_code == 0
            assert made.agent is not None
            await within(made.agent.wait(), SOON)

    for number in range(TURNS):
        await asyncio.gather(*(turn(tmp_path / f"{number}.{one}") for one in range(AT_ONCE)))
