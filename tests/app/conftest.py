"""A window's event loop for the tests of views."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from tests.qt_loop import WindowLoop
from tests.waiting import LONG, eventually


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    """The window's event loop; its tasks end with the test."""
    made = WindowLoop(qapp)
    asyncio.set_event_loop(made)
    yield made
    tasks = asyncio.all_tasks(made)
    for task in tasks:
        task.cancel()
    made.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    made.close()


@pytest.fixture
def until(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    """Run the loop until something is true; returns it."""

    def wait(predicate: Callable[[], Any], seconds: float = LONG) -> Any:
        return loop.run_until_complete(eventually(predicate, seconds))

    return wait
