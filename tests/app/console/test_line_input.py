"""Lines for a program that reads lines: what waits is in sight, can be changed and taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.lines.entry import LineEntry
from app.console.lines.queue import AHEAD, LineQueue, QueuedLine
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.client.interactive import SessionState, Status
from tests.app.inspector.recorded import TestContext

HERE = Status(SessionState.CONNECTED, mode="lines", writer=True, viewers=1)
AWAY = Status(SessionState.BUFFERING, mode="lines", writer=True)
OTHER = Status(SessionState.CONNECTED, mode="lines", writer=False, viewers=2)


def lines(*texts: str) -> list[QueuedLine]:
    return [QueuedLine(text) for text in texts]


def test_lines_leave_in_their_order_and_are_forgotten_when_the_node_has_them() -> None:
    queue = LineQueue()
    for text in ("one", "two"):
        queue.add(QueuedLine(text))
    assert queue.leaving() == lines("one", "two")
    assert queue.under_way == lines("one", "two")
    queue.confirm(4)
    assert queue.under_way == lines("two")
    queue.confirm(8)
    assert not queue.under_way


def test_no_more_is_under_way_than_can_be_waited_for() -> None:
    queue = LineQueue()
    for _ in range(10):
        queue.add(QueuedLine("x" * (AHEAD // 2 - 1)))
    assert len(queue.leaving()) == 2
    assert len(queue.waiting) == 8
    queue.confirm(AHEAD // 2)
    assert len(queue.leaving()) == 1


def test_a_line_longer_than_that_leaves_alone() -> None:
    queue = LineQueue()
    queue.add(QueuedLine("x" * AHEAD * 2))
    queue.add(QueuedLine("y"))
    assert len(queue.leaving()) == 1


def test_the_end_of_the_input_leaves_when_every_line_has_arrived() -> None:
    queue = LineQueue()
    queue.add(QueuedLine("last"))
    queue.add(QueuedLine(is_end=True))
    queue.add(QueuedLine("too late"))
    assert queue.leaving() == lines("last")
    assert not queue.over
    queue.confirm(5)
    assert queue.leaving() == [QueuedLine(is_end=True)]
    assert queue.over
    assert queue.ends


def test_what_waits_can_be_changed_and_taken_back_and_what_left_cannot() -> None:
    queue = LineQueue()
    queue.add(QueuedLine("gone"))
    queue.leaving()
    for text in ("one", "two"):
        queue.add(QueuedLine(text))
    queue.change(1, "2")
    assert queue.withdraw(0) == QueuedLine("one")
    assert queue.withdraw(5) is None
    assert queue.waiting == lines("2")
    assert queue.under_way == lines("gone")


def test_what_was_under_way_when_another_desk_took_over_is_told() -> None:
    queue = LineQueue()
    queue.add(QueuedLine("half"))
    queue.leaving()
    assert queue.lose() == lines("half")
    queue.add(QueuedLine("next"))
    queue.leaving()
    queue.confirm(5)
    assert not queue.under_way


@pytest.fixture
def entry(qapp: QApplication, qtbot: QtBot) -> LineEntry:
    """A line of a program that is connected."""
    made = LineEntry(TestContext(Theme(qapp, Mode.LIGHT), None))
    qtbot.addWidget(made)
    made.show_status(HERE)
    made.resize(600, 200)
    made.show()
    made.activateWindow()
    made.line.setFocus()
    return made


def enter(entry: LineEntry, text: str) -> None:
    QTest.keyClicks(entry.line, text)
    QTest.keyClick(entry.line, Qt.Key.Key_Return)


def shown(entry: LineEntry) -> list[str]:
    model = entry.lines.lines
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


def test_lines_wait_in_sight_while_the_connection_is_lost_and_leave_when_it_is_back(
    entry: LineEntry,
) -> None:
    sent: list[bytes] = []
    entry.sent.connect(sent.append)
    enter(entry, "first")
    assert sent == [b"first\n"]
    assert not entry.lines.isVisible()
    entry.show_status(AWAY)
    enter(entry, "second")
    enter(entry, "third")
    assert shown(entry) == ["first", "second", "third"]
    assert "2 lines wait until the connection is back" in entry.waiting.text()
    entry.lines.setCurrentIndex(entry.lines.lines.index(1))
    QTest.keyClick(entry.lines, Qt.Key.Key_Delete)
    entry.lines.lines.setData(entry.lines.lines.index(1), "3rd")
    assert shown(entry) == ["first", "3rd"]
    entry.show_status(HERE)
    assert sent == [b"first\n", b"3rd\n"]
    entry.show_status(Status(SessionState.CONNECTED, mode="lines", writer=True, sent=10))
    assert not entry.lines.isVisible()


def test_the_keyboard_leaves_when_there_is_nothing_more_to_type(entry: LineEntry) -> None:
    left: list[str] = []
    entry.left.connect(lambda: left.append("left"))
    entry.window().activateWindow()
    entry.line.setFocus()
    entry.show_status(replace(HERE, state=SessionState.CLOSED))
    assert left == ["left"]
    entry.take("typed on")
    assert entry.line.text() == ""


def test_a_line_that_the_agent_does_not_confirm_is_shown(entry: LineEntry) -> None:
    enter(entry, "into the dark")
    assert not entry.lines.isVisible()
    entry.show_status(replace(HERE, silent=5))
    assert shown(entry) == ["into the dark"]
    assert entry.lines.isVisible()
    assert "On the way" in entry.waiting.text()
    entry.show_status(replace(HERE, sent=14))
    assert not entry.lines.isVisible()


def test_a_line_that_is_being_changed_keeps_the_queue_waiting(entry: LineEntry) -> None:
    sent: list[bytes] = []
    entry.sent.connect(sent.append)
    entry.show_status(AWAY)
    enter(entry, "wrong")
    entry.lines.edit(entry.lines.lines.index(0))
    assert entry.lines.editing
    entry.show_status(HERE)
    assert sent == []
    editor = entry.lines.focusWidget()
    assert editor is not None
    QTest.keyClicks(editor, "right")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert sent == [b"right\n"]


def test_lines_wait_while_another_desk_types(entry: LineEntry) -> None:
    sent: list[bytes] = []
    lost: list[int] = []
    entry.sent.connect(sent.append)
    entry.lost.connect(lost.append)
    enter(entry, "on its way")
    entry.show_status(OTHER)
    assert lost == [1]
    enter(entry, "patient")
    assert "until you type here" in entry.waiting.text()
    entry.show_status(HERE)
    assert sent == [b"on its way\n", b"patient\n"]


def test_the_end_follows_the_lines_and_ends_the_typing(entry: LineEntry) -> None:
    ended: list[bool] = []
    entry.ended.connect(lambda: ended.append(True))
    entry.show_status(AWAY)
    enter(entry, "last")
    QTest.keyClick(entry.line, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert shown(entry) == ["last", "(end of input)"]
    assert not entry.line.isEnabled()
    entry.show_status(HERE)
    assert ended == []
    entry.show_status(Status(SessionState.CONNECTED, mode="lines", writer=True, sent=5))
    assert ended == [True]
    assert entry.line.placeholderText() == "The input has ended"


def test_an_end_that_is_taken_back_lets_one_type_on(entry: LineEntry) -> None:
    entry.show_status(AWAY)
    entry.end.click()
    entry.lines.setCurrentIndex(entry.lines.lines.index(0))
    entry.lines.withdraw()
    assert entry.line.isEnabled()


def test_arrows_bring_lines_back_and_what_was_begun_stays(entry: LineEntry) -> None:
    for text in ("one", "two", "two"):
        enter(entry, text)
    QTest.keyClicks(entry.line, "begun")
    for key, expected in (
        (Qt.Key.Key_Up, "two"),
        (Qt.Key.Key_Up, "one"),
        (Qt.Key.Key_Up, "one"),
        (Qt.Key.Key_Down, "two"),
        (Qt.Key.Key_Down, "begun"),
    ):
        QTest.keyClick(entry.line, key)
        assert entry.line.text() == expected


def test_pasted_lines_are_lines(entry: LineEntry) -> None:
    sent: list[bytes] = []
    entry.sent.connect(sent.append)
    QTest.keyClicks(entry.line, "a ")
    QGuiApplication.clipboard().setText("one\r\ntwo\nrest")
    QTest.keyClick(entry.line, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert sent == [b"a one\n", b"two\n"]
    assert entry.line.text() == "rest"
