"""A window's event loop and a desk before a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from broker_core.client.connect import connect
from tests.app.bench_desk import BenchDesk
from tests.qt_loop import WindowLoop
from tests.waiting import eventually


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

    def wait(predicate: Callable[[], Any], seconds: float = 20.0) -> Any:
        return loop.run_until_complete(eventually(predicate, seconds))

    return wait


@pytest.fixture
def desk(broker: Path, loop: asyncio.AbstractEventLoop, qapp: QApplication) -> Iterator[BenchDesk]:
    """A desk whose client talks to a running broker."""
    client = loop.run_until_complete(connect(broker))
    yield BenchDesk(qapp, client)
    loop.run_until_complete(client.aclose())
