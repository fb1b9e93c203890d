"""A terminal view, and programs in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.emulator.ghostty import Ghostty
from app.console.terminal.view import TerminalView
from app.theme.theme import Theme
from app.theme.tokens import Mode
from tests.app.console.program import Program
from tests.app.inspector.recorded import TestContext

Run = Callable[..., Program]


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Ghostty]:
    """A terminal of 20 by 5 cells, or of as many as the module names in `CELLS`."""
    columns, rows = getattr(request.module, "CELLS", (20, 5))
    made = Ghostty(columns, rows)
    made.colors("#101010", "#ffffff", "#0000ff", ["#000000", "#aa0000"])
    made.resize(columns, rows, 8, 16)
    yield made
    made.close()


@pytest.fixture
def view(qapp: QApplication, qtbot: QtBot) -> TerminalView:
    """A terminal of 100 by 30 cells with the focus."""
    made = TerminalView(TestContext(Theme(qapp, Mode.LIGHT), None))
    qtbot.addWidget(made)
    made.show()
    room = made.viewport().size()
    made.resize(
        made.width() + round(made.cell.width() * 100) - room.width(),
        made.height() + round(made.cell.height() * 30) - room.height(),
    )
    made.setFocus()
    return made


@pytest.fixture
def run(view: TerminalView, loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[Run]:
    """Run programs in the view; they are ended after the test."""
    running: list[Program] = []

    def start(*words: str) -> Program:
        running.append(Program(view, loop, list(words), tmp_path))
        return running[-1]

    yield start
    for one in running:
        one.close()
