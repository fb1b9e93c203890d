"""A fault of the window itself is told in a plain sentence, with details for a report; looks are put back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QPlainTextEdit, QPushButton

from app.actions.table import ACTIONS
from app.context import Notice
from app.inspector.logs.view import ERROR
from app.theme.tokens import Mode
from tests.app.windows import Stage, play, turns


def _dialog(on: Stage) -> QDialog:
    return next(one for one in on.window.findChildren(QDialog) if one.windowTitle() == "Problem details")


@pytest.mark.expected_log("[Ww]hile counting sheep")
def test_what_nobody_foresaw_is_told_without_its_class_and_can_be_copied(
    qapp: QApplication, tmp_path: Path
) -> None:
    async def fails() -> None:
        [][1]

    async def scenario(on: Stage) -> None:
        told: list[Notice] = []
        on.context.noticed.connect(told.append)
        on.context.trigger("help.problem")
        assert _dialog(on).findChild(QPlainTextEdit) is None
        _dialog(on).reject()
        await turns()
        await on.context.run(fails(), "counting sheep")
        assert [one.text for one in told] == ["Something went wrong in the window while counting sheep."]
        on.context.trigger(told[0].action)
        shown = _dialog(on).findChild(QPlainTextEdit)
        assert "IndexError: list index out of range" in shown.toPlainText()
        assert "CrossDesk " in shown.toPlainText().splitlines()[0]
        copy = next(one for one in _dialog(on).findChildren(QPushButton) if one.text() == "Copy")
        copy.click()
        assert QApplication.clipboard().text() == shown.toPlainText()
        _dialog(on).reject()

    play(qapp, tmp_path / "state", scenario, connect=False)


def test_leaving_the_colours_of_the_system_is_told_once_and_zoom_goes_back(
    qapp: QApplication, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        told: list[Notice] = []
        on.context.noticed.connect(told.append)
        on.context.preferences["theme"] = Mode.SYSTEM.value
        on.context.trigger("view.theme")
        on.context.trigger("view.theme")
        assert [(one.text, one.action) for one in told] == [
            ("The window is dark now, and follows the system no more.", "app.settings")
        ]
        usual = on.context.theme.size
        on.context.trigger("view.larger")
        on.context.trigger("view.larger")
        assert on.context.theme.size == usual + 2
        on.context.trigger("view.zoom_reset")
        assert on.context.theme.size == on.context.preferences["font_size"] == usual

    play(qapp, tmp_path / "state", scenario, connect=False)


def test_no_key_means_two_things_about_a_job() -> None:
    keys = [key for one in ACTIONS if not one.local for key in (one.shortcut, one.also) if key]
    assert sorted(keys) == sorted(set(keys))
    assert ERROR.toString() not in keys
