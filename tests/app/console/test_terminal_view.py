"""The terminal's own commands: the size of letters, its menu, the bell, output in large pieces."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.terminal.menu import terminal_menu
from app.console.terminal.view import TerminalView

Control = Qt.KeyboardModifier.ControlModifier


def entries(view: TerminalView) -> dict[str, Any]:
    return {one.text(): one for one in terminal_menu(view).actions() if one.text()}


def test_letters_grow_and_shrink_and_the_program_learns_its_new_size(
    view: TerminalView, qtbot: QtBot
) -> None:
    usual, told = view.face.pixelSize(), []
    view.resized.connect(lambda columns, rows: told.append((columns, rows)))
    qtbot.keyClick(view, Qt.Key.Key_Plus, Control)
    qtbot.keyClick(view, Qt.Key.Key_Plus, Control)
    assert view.face.pixelSize() == usual + 2
    assert told[-1] < (100, 30)
    qtbot.keyClick(view, Qt.Key.Key_Minus, Control)
    assert view.face.pixelSize() == usual + 1
    qtbot.keyClick(view, Qt.Key.Key_0, Control)
    assert (view.face.pixelSize(), told[-1]) == (usual, (100, 30))


def test_letters_stay_readable(view: TerminalView) -> None:
    for _ in range(60):
        view.zoom(-1)
    assert view.face.pixelSize() == 7


def test_the_menu_copies_everything_and_forgets_what_was_scrolled_away(view: TerminalView) -> None:
    view.terminal.feed(b"".join(b"line %d\r\n" % number for number in range(100)))
    assert not entries(view)["Copy"].isEnabled()
    entries(view)["Select all"].trigger()
    entries(view)["Copy"].trigger()
    assert QGuiApplication.clipboard().text().splitlines()[0] == "line 0"
    entries(view)["Clear scrollback"].trigger()
    assert view.terminal.scroll().total == 30
    assert "line 99" in view.terminal.text()


def test_the_menu_pastes_finds_and_saves(view: TerminalView) -> None:
    heard: list[object] = []
    view.typed.connect(heard.append)
    view.find_asked.connect(lambda: heard.append("find"))
    view.save_asked.connect(lambda: heard.append("save"))
    QGuiApplication.clipboard().setText("words")
    for name in ("Paste", "Find…", "Save the transcript…"):
        entries(view)[name].trigger()
    assert heard == [b"words", "find", "save"]


def test_a_bell_is_seen_and_goes_away(view: TerminalView, until: Any) -> None:
    def frame() -> str:
        return view.grab().toImage().pixelColor(view.viewport().x() + 40, view.viewport().y() + 1).name()

    quiet = frame()
    seen: list[str] = []
    view.rung.connect(lambda: seen.append(frame()))
    view.feed(b"\x07")
    until(lambda: seen)
    assert seen[0] == view.canvas.colors.cursor.name() != quiet
    until(lambda: frame() == quiet)


def test_a_very_large_piece_is_read_in_its_order_and_counted(view: TerminalView, until: Any) -> None:
    data = b"".join(b"line %d\r\n" % number for number in range(200_000))
    counted: list[int] = []
    view.read.connect(counted.append)
    view.feed(data)
    view.feed(b"the end")
    assert view.behind == len(data) + 7
    until(lambda: not view.behind)
    assert sum(counted) == len(data) + 7
    assert len(counted) > 1
    assert view.terminal.text().splitlines()[-2:] == ["line 199999", "the end"]


def test_one_looks_back_with_shift_and_the_keys_of_pages(view: TerminalView, qtbot: QtBot) -> None:
    view.terminal.feed(b"".join(b"line %d\r\n" % number for number in range(100)))
    heard: list[bytes] = []
    view.typed.connect(heard.append)
    shift = Qt.KeyboardModifier.ShiftModifier
    for key, first in (
        (Qt.Key.Key_PageUp, 42),
        (Qt.Key.Key_PageDown, 71),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_End, 71),
    ):
        qtbot.keyClick(view, key, shift)
        assert view.terminal.scroll().offset == first
    assert heard == []
    view.terminal.feed(b"\x1b[?1049h")
    qtbot.keyClick(view, Qt.Key.Key_PageUp, shift)
    assert heard == [b"\x1b[5;2~"]


def test_the_wheel_turns_pages_of_a_full_screen_program_in_its_kind_of_arrows(view: TerminalView) -> None:
    heard: list[bytes] = []
    view.typed.connect(heard.append)
    for modes, arrow in ((b"\x1b[?1049h", b"\x1b[A"), (b"\x1b[?1h", b"\x1bOA")):
        view.terminal.feed(modes)
        at = QPointF(20, 20)
        turned = QWheelEvent(
            at, at, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(view.viewport(), turned)
        assert heard[-1] == arrow * 3


def test_lines_of_a_program_without_a_terminal_begin_at_the_left_and_count_as_they_came(
    view: TerminalView, qtbot: QtBot
) -> None:
    read: list[int] = []
    view.read.connect(read.append)
    view.feed(b"one\n" * 50_000, by_lines=True)
    view.feed(b"two\r\nthree\n", by_lines=True)
    qtbot.waitUntil(lambda: view.behind == 0, timeout=60_000)
    assert sum(read) == 200_011
    assert view.terminal.text().splitlines()[-3:] == ["one", "two", "three"]
