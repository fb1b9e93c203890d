"""Notices of the real window stand at its lower right and never cover the toolbar."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow
from pytestqt.qtbot import QtBot

from app.context import Notice, Tone
from app.shell.toasts import Toast, Toasts
from app.theme.theme import Theme


class Speaking(QObject):
    """A desk that has something to say."""

    noticed = Signal(object)
    withdrawn = Signal(str)

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self.theme, self.actions = Theme(app), self

    def qt(self, name: str) -> QAction:
        return QAction(name, self)


def test_notices_stand_at_the_lower_right_and_only_three_stay(qapp: QApplication, qtbot: QtBot) -> None:
    context = Speaking(qapp)
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    stack = Toasts(context, window)  # type: ignore[arg-type]
    for number in range(5):
        context.noticed.emit(Notice(f"notice {number}"))
    shown = [toast for toast in window.findChildren(Toast) if not toast.isHidden()]
    assert stack is not None
    assert [toast.accessibleName() for toast in shown] == ["notice 2", "notice 3", "notice 4"]
    assert all(toast.geometry().right() < 1280 and toast.y() > 400 for toast in shown)
    assert len({toast.y() for toast in shown}) == 3
    context.noticed.emit(Notice("It was tried there, and refused. " * 60))
    (long,) = (toast for toast in window.findChildren(Toast) if toast.accessibleName().startswith("It was"))
    assert long.height() < 200


@pytest.mark.parametrize("action", ["", "job.resubmit"])
def test_the_words_of_a_notice_have_all_the_room_that_they_need(
    qapp: QApplication, qtbot: QtBot, action: str
) -> None:
    context = Speaking(qapp)
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    stack = Toasts(context, window)  # type: ignore[arg-type]
    context.noticed.emit(
        Notice("It starts at once or not at all: every resource is busy. " * 3, action=action)
    )
    QApplication.processEvents()
    assert stack is not None
    (toast,) = window.findChildren(Toast)
    (words,) = (one for one in toast.findChildren(QLabel) if one.wordWrap())
    assert words.height() >= words.heightForWidth(words.width())


def shown(window: QMainWindow) -> list[str]:
    return [toast.accessibleName() for toast in window.findChildren(Toast) if not toast.isHidden()]


def test_a_notice_of_the_same_topic_takes_the_place_of_the_one_before(
    qapp: QApplication, qtbot: QtBot
) -> None:
    context = Speaking(qapp)
    window = QMainWindow()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    stack = Toasts(context, window, lambda notice: notice.job == "seen")  # type: ignore[arg-type]

    def tell(text: str, tone: Tone = Tone.NEUTRAL, *, counting: bool = True, job: str = "") -> None:
        context.noticed.emit(Notice(text, tone, topic="batch x", counting=counting, job=job))

    tell("x: 1 of 9 done")
    tell("x: 2 of 9 done")
    assert shown(window) == ["x: 2 of 9 done"]
    for toast in window.findChildren(Toast):
        toast.leave()
    tell("x: 3 of 9 done")
    assert not shown(window), "a count that was put away does not come back"
    tell("x: 3 of 9 done, 1 failed", Tone.BAD, job="seen")
    assert not shown(window), "what is in view needs no notice"
    tell("x: 3 of 9 done, 1 failed", Tone.BAD)
    assert shown(window) == ["x: 3 of 9 done, 1 failed"]
    tell("x: 8 of 9 done, 1 failed", Tone.BAD, counting=False)
    assert shown(window) == ["x: 8 of 9 done, 1 failed"]
    context.withdrawn.emit("batch x")
    assert not shown(window)
    assert stack is not None
