"""Long work in the event loop, in slices: others get their turn in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
SLICE = 0.004
"""Seconds of work after which others get their turn."""


async def in_turns(work: Generator[None, None, T]) -> T:
    """Do all steps of some work and return its result."""
    begun = time.monotonic()
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        if time.monotonic() - begun > SLICE:
            await asyncio.sleep(0)
            begun = time.monotonic()
