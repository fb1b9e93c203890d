"""Starts of processes are not cut short by a cancel: what had begun would be left running, its pipes open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Started = TypeVar("Started")


async def start_whole(starting: Awaitable[Started]) -> tuple[Started, asyncio.CancelledError | None]:
    """Await the start of a process to its end; returns it, and the cancel that came meanwhile, if one did.

    Whoever gets a cancel ends the process and raises that. Raises what the start raises, or the cancel where
    both happen.
    """
    task = asyncio.ensure_future(starting)
    canceled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            canceled = error
    if canceled is not None and task.exception() is not None:
        raise canceled
    return task.result(), canceled
