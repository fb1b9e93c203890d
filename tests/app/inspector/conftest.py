"""A loop, a theme and a desk for the tests of the inspector."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.theme.theme import DeskTheme
from app.theme.tokens import Mode
from tests.app.inspector.recorded import RecordedBroker, TestDesk
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
def turn(loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
    """Let everything that is due happen, a few times over."""

    def run() -> None:
        for _ in range(20):
            loop.run_until_complete(asyncio.sleep(0))

    return run


@pytest.fixture
def desk(loop: asyncio.AbstractEventLoop, qapp: QApplication, tmp_path: Path) -> TestDesk:
    """A desk before a broker whose answers are written down; job files lie in tmp_path/files."""
    folder = tmp_path / "files"
    folder.mkdir()
    return TestDesk(DeskTheme(qapp, Mode.LIGHT), RecordedBroker(folder))
