"""The mouse in a terminal: words and lines are selected, beyond what is in sight, and links followed."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.console.emulator.ghostty import Ghostty
from app.console.emulator.links import link_at
from app.console.terminal.menu import terminal_menu
from app.console.terminal.view import TerminalView

Left, Control, No = (
    Qt.MouseButton.LeftButton,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.NoModifier,
)


def pixel(view: TerminalView, column: int, row: int) -> QPoint:
    return QPoint(int((column + 0.5) * view.cell.width()), int((row + 0.5) * view.cell.height()))


def press(view: TerminalView, column: int, row: int, modifiers: Qt.KeyboardModifier = No) -> None:
    QTest.mousePress(view.viewport(), Left, modifiers, pixel(view, column, row))


def move(view: TerminalView, at: QPoint, held: Qt.MouseButton = Left, modifiers: Any = No) -> None:
    where = view.viewport().mapToGlobal(at)
    event = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(at), QPointF(where), Qt.MouseButton.NoButton, held, modifiers
    )
    QApplication.sendEvent(view.viewport(), event)


def test_a_selection_goes_on_beyond_what_is_in_sight(view: TerminalView, until: Any) -> None:
    view.terminal.feed(b"".join(b"line %d\r\n" % number for number in range(200)))
    bottom = view.terminal.scroll().offset
    press(view, 3, 20)
    move(view, QPoint(2, -30))
    until(lambda: view.terminal.scroll().offset < bottom - 40)
    QTest.mouseRelease(view.viewport(), Left, No, QPoint(2, -30))
    stopped = view.terminal.scroll().offset
    chosen = view.terminal.selected().splitlines()
    assert chosen[0] == f"line {stopped}"
    assert chosen[-1] == "line"
    assert len(chosen) == bottom + 20 - stopped + 1, "it begins where the button was pressed"
    view.terminal.scroll_to(0)
    press(view, 0, 5)
    move(view, QPoint(2, view.viewport().height() + 30))
    until(lambda: view.terminal.scroll().offset == bottom)
    QTest.mouseRelease(view.viewport(), Left, No, QPoint(2, view.viewport().height() + 30))
    assert view.terminal.selected().startswith("line 5\nline 6\n")


def test_what_is_being_selected_stays_while_output_arrives(view: TerminalView) -> None:
    view.terminal.feed(b"".join(b"line %d\r\n" % number for number in range(40)))
    first = view.terminal.scroll().offset + 10
    press(view, 0, 10)
    view.terminal.feed(b"more\r\n" * 5)
    move(view, pixel(view, 6, 10))
    QTest.mouseRelease(view.viewport(), Left, No, pixel(view, 6, 10))
    assert view.terminal.selected().splitlines()[0] == f"line {first}"


def test_words_and_lines_are_selected_as_wholes(view: TerminalView) -> None:
    view.terminal.feed(b"alpha beta gamma\r\nsecond line here\r\nthird\r\n")
    press(view, 7, 0)
    QTest.mouseRelease(view.viewport(), Left, No, pixel(view, 7, 0))
    QTest.mouseDClick(view.viewport(), Left, No, pixel(view, 7, 0))
    assert view.terminal.selected() == "beta"
    move(view, pixel(view, 1, 1))
    assert view.terminal.selected() == "beta gamma\nsecond"
    move(view, pixel(view, 1, 0))
    assert view.terminal.selected() == "alpha beta"
    QTest.mouseRelease(view.viewport(), Left, No, pixel(view, 1, 0))
    press(view, 1, 1)
    assert view.terminal.selected() == "second line here"
    move(view, pixel(view, 2, 2))
    assert view.terminal.selected() == "second line here\nthird"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see http://example.org/a-long-path?x=1&y=2, or", "http://example.org/a-long-path?x=1&y=2"),
        ("(https://example.org/c_(d)) then", "https://example.org/c_(d)"),
        ('href="https://example.org"', "https://example.org"),
        ("write to mailto:ann@example.org.", "mailto:ann@example.org"),
        ("http://127.0.0.1:8888/?token=0f8e", "http://127.0.0.1:8888/?token=0f8e"),
        ("no://example.org and example.org", ""),
    ],
)
def test_an_address_that_was_only_written_is_a_link_over_all_its_rows(text: str, address: str) -> None:
    terminal = Ghostty(20, 5)
    terminal.feed(text.encode())
    cells = [(place % 20, place // 20) for place in range(len(text))]
    leads = [link_at(terminal, at) for at in cells]
    start = text.index(address)
    assert leads == [address if start <= place < start + len(address) else "" for place in range(len(text))]
    assert link_at(terminal, (19, 3)) == "", "blank space leads nowhere"
    terminal.close()


def test_a_link_is_followed_with_control_and_offered_by_the_menu(view: TerminalView) -> None:
    followed: list[str] = []
    view.link_opened.connect(followed.append)
    view.terminal.feed(b"open http://127.0.0.1:8888/lab now")
    move(view, pixel(view, 10, 0), Qt.MouseButton.NoButton)
    assert view.viewport().cursor().shape() is Qt.CursorShape.IBeamCursor
    move(view, pixel(view, 10, 0), Qt.MouseButton.NoButton, Control)
    assert view.viewport().cursor().shape() is Qt.CursorShape.PointingHandCursor
    press(view, 10, 0, Control)
    press(view, 1, 0, Control)
    assert followed == ["http://127.0.0.1:8888/lab"]
    link = link_at(view.terminal, (10, 0))
    entries = {one.text(): one for one in terminal_menu(view, link).actions()}
    entries["Open the link"].trigger()
    entries["Copy the link"].trigger()
    assert followed == ["http://127.0.0.1:8888/lab"] * 2
    assert QApplication.clipboard().text() == "http://127.0.0.1:8888/lab"


def test_the_mouse_is_an_arrow_where_the_program_has_it(view: TerminalView) -> None:
    view.terminal.feed(b"\x1b[?1003h\x1b[?1006h")
    move(view, pixel(view, 3, 3), Qt.MouseButton.NoButton)
    assert view.viewport().cursor().shape() is Qt.CursorShape.ArrowCursor
