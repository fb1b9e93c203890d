"""Waiting for something to become true, with a deadline; tests never sleep for a fixed time."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

_STEP = 0.01


def wait_until(predicate: Callable[[], Any], seconds: float = 20.0, what: str = "") -> Any:
    """Poll `predicate` until it returns something true, and return that; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not (value := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what or _name(predicate)}")
        pause.wait(_STEP)
    return value


async def eventually(
    predicate: Callable[[], Any] | Callable[[], Awaitable[Any]], seconds: float = 20.0, what: str = ""
) -> Any:
    """Like `wait_until` inside a running loop; `predicate` may be a coroutine function."""
    deadline = time.monotonic() + seconds
    while True:
        value = predicate()
        if inspect.isawaitable(value):
            value = await value
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what or _name(predicate)}")
        await asyncio.sleep(_STEP)


def _name(predicate: Callable[[], Any]) -> str:
    return getattr(predicate, "__qualname__", repr(predicate))
