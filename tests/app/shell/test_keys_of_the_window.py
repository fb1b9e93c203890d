"""Keys lead from pane to pane, and questions are answered by the button that has the keyboard."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget

from app.widgets.confirm import confirm
from tests.app.windows import Stage, play, turns


def holder(on: Stage) -> str:
    """The pane that has the keyboard."""
    panes = {
        "sidebar": on.window.sidebar,
        "main": on.window.tabs,
        "inspector": on.window.right.widget(),
        "activity": on.window.bottom.widget(),
    }
    focused = QApplication.focusWidget()
    return next((name for name, pane in panes.items() if focused and pane.isAncestorOf(focused)), "")


def test_f6_goes_round_all_panes_that_can_be_seen(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.show_job(await on.finished("fails"))
        await turns()
        on.window.activateWindow()
        on.window.jobs.view.setFocus()
        been = [holder(on)]
        for _ in range(3):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6)
            been.append(holder(on))
        assert been == ["main", "inspector", "sidebar", "main"]
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert holder(on) == "sidebar"
        on.window.bottom.show()
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        assert holder(on) == "activity"

    play(qapp, broker, scenario)


def asked(window: QWidget, told: list[str]) -> tuple[QMessageBox, QPushButton, QPushButton]:
    box = confirm(window, "Cancel?", "", "Cancel 20 jobs", lambda: told.append("done"), keep="Keep running")
    buttons = {button.text(): button for button in box.findChildren(QPushButton)}
    return box, buttons["Cancel 20 jobs"], buttons["Keep running"]


def is_red(on: Stage, button: QPushButton) -> bool:
    return button.grab().toImage().pixelColor(6, button.height() // 2) == on.context.theme.color("negative")


def test_return_presses_the_button_that_has_the_keyboard(qapp: QApplication, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        told: list[str] = []
        box, do, keep = asked(on.window, told)
        await turns()
        assert box.focusWidget() is keep
        assert is_red(on, do)
        QTest.keyClick(keep, Qt.Key.Key_Return)
        assert not told
        box, do, keep = asked(on.window, told)
        await turns()
        QTest.keyClick(keep, Qt.Key.Key_Tab)
        assert box.focusWidget() is do
        assert is_red(on, do)
        QTest.keyClick(do, Qt.Key.Key_Return)
        assert told == ["done"]

    play(qapp, tmp_path / "state", scenario, connect=False)
