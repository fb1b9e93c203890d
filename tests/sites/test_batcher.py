"""Calls that come at about the same time share an exchange, and none is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from broker_core.sites.batcher import Batcher


async def test_what_is_asked_the_moment_the_last_group_is_done_is_carried_too() -> None:
    """Who was woken within a group asks before the event loop tells that its task has ended."""
    woken = asyncio.Event()

    async def carry(group: Sequence[int]) -> Sequence[int]:
        woken.set()
        return [2 * one for one in group]

    batcher: Batcher[int, int] = Batcher(carry, linger=0.0, most=10, at_once=1)

    async def second() -> int:
        await woken.wait()
        return await batcher.ask(2)

    later = asyncio.create_task(second())
    async with asyncio.timeout(10):
        assert await batcher.ask(1) == 2
        assert await later == 4


async def test_nothing_more_is_carried_once_it_is_closed() -> None:
    """Not even where a group ends as it is closed, and calls wait behind it."""
    carried = list[int]()
    batcher: Batcher[int, int]
    closing: asyncio.Task[None] | None = None
    late: asyncio.Task[int] | None = None

    async def carry(group: Sequence[int]) -> Sequence[int]:
        nonlocal closing, late
        carried.extend(group)
        late = asyncio.create_task(batcher.ask(2))
        closing = asyncio.create_task(batcher.close())
        return list(group)

    batcher = Batcher(carry, linger=0.0, most=10, at_once=1)
    async with asyncio.timeout(10):
        assert await batcher.ask(1) == 1
        assert closing is not None
        assert late is not None
        await closing
        with pytest.raises(asyncio.CancelledError):
            await late
    assert carried == [1]
