"""Notices of the real window stand at its lower right and never cover the toolbar."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from app.context import Notice
from app.shell.toasts import Toast, Toasts


def test_notices_stand_at_the_lower_right_and_only_three_stay(qapp: QApplication, qtbot: QtBot) -> None:
    from PySide6.QtCore import QObject, Signal

    from app.theme.theme import DeskTheme

    class Speaking(QObject):
        noticed = Signal(object)

    desk = Speaking()
    desk.theme = DeskTheme(qapp)  # type: ignore[attr-defined]
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    stack = Toasts(desk, window)  # type: ignore[arg-type]
    for number in range(5):
        desk.noticed.emit(Notice(f"notice {number}"))
    shown = [toast for toast in window.findChildren(Toast) if not toast.isHidden()]
    assert stack is not None
    assert [toast.accessibleName() for toast in shown] == ["notice 2", "notice 3", "notice 4"]
    assert all(toast.geometry().right() < 1280 and toast.y() > 400 for toast in shown)
    assert len({toast.y() for toast in shown}) == 3
    desk.noticed.emit(Notice("It was tried there, and refused. " * 60))
    (long,) = (toast for toast in window.findChildren(Toast) if toast.accessibleName().startswith("It was"))
    assert long.height() < 200
