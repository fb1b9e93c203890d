"""A theme and a desk for the tests of the inspector."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.inspector.inspector import Inspector
from app.theme.theme import Theme
from app.theme.tokens import Mode
from tests.app.inspector.recorded import RecordedBroker, TestContext


@pytest.fixture
def turn(loop: asyncio.AbstractEventLoop) -> Callable[[], None]:
    """Let everything that is due happen, a few times over."""

    def run() -> None:
        for _ in range(20):
            loop.run_until_complete(asyncio.sleep(0))

    return run


@pytest.fixture
def context(loop: asyncio.AbstractEventLoop, qapp: QApplication, tmp_path: Path) -> TestContext:
    """A desk before a broker whose answers are written down; job files lie in tmp_path/files."""
    folder = tmp_path / "files"
    folder.mkdir()
    return TestContext(Theme(qapp, Mode.LIGHT), RecordedBroker(folder))


@pytest.fixture
def inspector(qtbot: QtBot, context: TestContext) -> Inspector:
    """As narrow as beside the table of jobs."""
    made = Inspector(context)
    qtbot.addWidget(made)
    made.resize(360, 820)
    made.show()
    return made
