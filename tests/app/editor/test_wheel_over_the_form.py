"""The mouse wheel over the form of a description scrolls it; it changes no value by the way."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.editor.editor import Editor
from tests.app.bench_context import BenchContext

TEXT = 'Executable = "/bin/echo";\nNodeNumber = 4;\n'


@pytest.fixture
def editor(qapp: QApplication, qtbot: QtBot) -> Editor:
    made = Editor(BenchContext(qapp), TEXT)
    qtbot.addWidget(made)
    made.resize(1000, 420)
    made.show()
    qtbot.waitExposed(made)
    qtbot.waitUntil(lambda: not made.checking.pending, timeout=60_000)
    made.form.more.click()
    made.source.setFocus()
    return made


def _wheel_over(editor: Editor, field: QWidget) -> None:
    """A step of the wheel towards the user, with the pointer over a field."""
    editor.form.ensureWidgetVisible(field, 0, 0)
    at = field.mapTo(editor.window(), field.rect().center())
    QTest.wheelEvent(editor.window().windowHandle(), QPointF(at), QPoint(0, -120))
    QApplication.processEvents()


@pytest.mark.parametrize("attribute", ["JobType", "CpuNumber"])
def test_a_field_without_the_keyboard_passes_the_wheel_on(editor: Editor, attribute: str) -> None:
    field = editor.form.widgets[attribute].focusProxy()
    bar = editor.form.verticalScrollBar()
    editor.form.ensureWidgetVisible(field, 0, 0)
    before = bar.value()
    _wheel_over(editor, field)
    assert editor.text() == TEXT
    assert not field.hasFocus()
    assert bar.value() > before


@pytest.mark.parametrize("attribute", ["JobType", "CpuNumber"])
def test_a_field_with_the_keyboard_follows_the_wheel(editor: Editor, attribute: str) -> None:
    field = editor.form.widgets[attribute].focusProxy()
    field.setFocus()
    _wheel_over(editor, field)
    assert editor.text() != TEXT
