"""Waiting for something to become true, with a deadline; tests never sleep for a fixed time."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")
LONG = 60.0
"""Seconds after which something is taken to be never: many times what it takes on a busy machine."""
Words = str | Callable[[], str]
_STEP = 0.01


def wait_until(predicate: Callable[[], Any], seconds: float = LONG, what: Words = "") -> Any:
    """Poll `predicate` until it returns something true, and return that; fail after `seconds`.

    `what`: what is waited for, for the message; a function is asked for it when the time is over.
    """
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        # The last look begins after the time is over: on a busy machine one alone may take as long.
        late = time.monotonic() > deadline
        if value := predicate():
            return value
        if late:
            raise AssertionError(f"not within {seconds:g} s: {_words(what) or _name(predicate)}")
        pause.wait(_STEP)


async def eventually(
    predicate: Callable[[], Any] | Callable[[], Awaitable[Any]], seconds: float = LONG, what: Words = ""
) -> Any:
    """Like `wait_until` inside a running loop; `predicate` may be a coroutine function."""
    deadline = time.monotonic() + seconds
    while True:
        late = time.monotonic() > deadline
        value = predicate()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        if late:
            raise AssertionError(f"not within {seconds:g} s: {_words(what) or _name(predicate)}")
        await asyncio.sleep(_STEP)


async def within(awaited: Awaitable[T], seconds: float = LONG) -> T:
    """What is awaited; raises TimeoutError if it takes longer."""
    async with asyncio.timeout(seconds):
        return await awaited


def _words(what: Words) -> str:
    return what if isinstance(what, str) else what()


def _name(predicate: Callable[[], Any]) -> str:
    return getattr(predicate, "__qualname__", repr(predicate))
