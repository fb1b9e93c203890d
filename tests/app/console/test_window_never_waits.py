"""What takes long is done in slices, or beside the window; nothing of it is lost meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from pyghostty._ffi import ffi
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.preload import first_key
from app.console.terminal.view import TerminalView
from app.console.warm_up import rehearse

MANY = 20_000


@pytest.fixture
def full(view: TerminalView) -> TerminalView:
    """A terminal with very many lines."""
    view.terminal.feed(
        b"".join(b"line %d of very many, long enough to flow\r\n" % number for number in range(MANY))
    )
    view.refresh()
    return view


def test_very_many_lines_flow_anew_beside_the_window(full: TerminalView, until: Any) -> None:
    told: list[tuple[int, int]] = []
    full.resized.connect(lambda columns, rows: told.append((columns, rows)))
    for step in range(12):
        full.resize(full.width() - 12 + step, full.height() - step)
        QApplication.processEvents()
    full.feed(b"the newest line")
    until(lambda: not full.terminal.busy and not full.behind)
    until(lambda: full.frame.rows[full.frame.cursor.row].text() == "the newest line")
    room = full.viewport().size()
    assert full.terminal.size == (
        int(room.width() / full.cell.width()),
        int(room.height() / full.cell.height()),
    )
    assert told[-1] == full.terminal.size
    assert len(full.frame.rows) == full.terminal.size[1]
    assert full.terminal.contents().count("line 7 of very many") == 1


def test_keys_that_are_pressed_meanwhile_are_sent_in_their_order(full: TerminalView, until: Any) -> None:
    heard: list[bytes] = []
    full.typed.connect(heard.append)
    full.resize(full.width() - 80, full.height())
    for letter in "abc":
        event = QKeyEvent(QEvent.Type.KeyPress, ord(letter.upper()), Qt.KeyboardModifier.NoModifier, letter)
        QApplication.sendEvent(full, event)
    until(lambda: b"".join(heard) == b"abc")


def test_everything_is_copied_beside_the_window(full: TerminalView, until: Any) -> None:
    QGuiApplication.clipboard().setText("before")
    full.terminal.select_all()
    full.copy()
    until(lambda: QGuiApplication.clipboard().text().startswith("line 0 of"))
    assert len(QGuiApplication.clipboard().text().splitlines()) >= MANY


def test_very_many_lines_are_searched_in_turns_and_each_hit_is_gone_to(
    full: TerminalView, until: Any, qtbot: QtBot
) -> None:
    told: list[int] = []
    full.finding.found.connect(told.append)
    full.find_text("LINE 1234")
    until(lambda: told and told[-1] == 11)
    assert full.find_step(-1) == (1, 11)
    until(lambda: any("line 12349" in row.text() for row in full.frame.rows))
    assert [full.find_step(-1)[0] for _ in range(11)] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1]
    full.find_text("nowhere")
    until(lambda: told[-1] == 0)
    full.find_text("")
    until(lambda: not full.finding.marks)


def test_a_terminal_asks_for_no_type_that_was_not_rehearsed(view: TerminalView, qtbot: QtBot) -> None:
    rehearse(first_key())
    known = set(ffi._parsed_types)
    made = TerminalView(view._context)
    qtbot.addWidget(made)
    made.show()
    made.terminal.feed("a \x1b[1mb\x1b[0m 漢 \x1b[?1000h\x1b[6n\x1b]2;t\x07".encode())
    made.show_output()
    qtbot.keyClick(made, Qt.Key.Key_A)
    qtbot.mouseDClick(made.viewport(), Qt.MouseButton.LeftButton)
    made.paste("x")
    made.find_text("a")
    made.find_step(-1)
    made.terminal.select_all()
    made.copy()
    made.zoom(1)
    made.scroll_lines(-1)
    assert set(ffi._parsed_types) == known
