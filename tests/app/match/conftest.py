"""A desk before made-up matches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.match.view import MatchView
from app.theme.theme import Theme
from app.theme.tokens import Mode
from tests.app.inspector.recorded import TestContext
from tests.app.match.made_up import TEXT, MatchBroker

Show = Callable[..., MatchView]


@pytest.fixture
def show(
    loop: asyncio.AbstractEventLoop, qapp: QApplication, qtbot: QtBot, until: Callable[..., Any]
) -> Show:
    """Show the match view before a number of made-up resources, asked about TEXT."""

    def make(number: int, grouped: bool = False, wait: bool = True) -> MatchView:
        view = MatchView(TestContext(Theme(qapp, Mode.LIGHT), MatchBroker(number, grouped)))
        qtbot.addWidget(view)
        view.resize(1000, 760)
        view.show()
        view.ask(TEXT)
        if wait:
            until(lambda: view.showing_report() and not view.asking.pending)
        return view

    return make
