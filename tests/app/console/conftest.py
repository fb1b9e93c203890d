"""A terminal view, and programs in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.terminal import TerminalView
from app.theme.theme import DeskTheme
from app.theme.tokens import Mode
from tests.app.console.program import Program
from tests.app.inspector.recorded import TestDesk

Run = Callable[..., Program]


@pytest.fixture
def view(qapp: QApplication, qtbot: QtBot) -> TerminalView:
    """A terminal of 100 by 30 cells with the focus."""
    made = TerminalView(TestDesk(DeskTheme(qapp, Mode.LIGHT), None))
    qtbot.addWidget(made)
    margin = made.width() - made.viewport().width()
    made.resize(
        made.cells.width * 100 + margin, made.cells.height * 30 + made.height() - made.viewport().height()
    )
    made.show()
    made.resize(
        made.width() + made.cells.width * 100 - made.viewport().width(),
        made.height() + made.cells.height * 30 - made.viewport().height(),
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
