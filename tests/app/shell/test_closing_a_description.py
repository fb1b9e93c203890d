"""A description with unsaved text is closed: saved, given up, or left open; and how it is saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox

from app.actions.table import BY_ID
from app.editor.editor import Editor
from app.editor.recovery import drafts_directory
from app.shell import sheets
from tests.app.windows import Stage, play
from tests.waiting import eventually

TYPED = 'Executable = "/bin/echo";'


async def _drafted(on: Stage) -> Editor:
    """A new description with text that was written down for recovery."""
    on.context.trigger("file.new")
    (editor,) = on.window.tabs.editors()
    QTest.keyClicks(editor.source, TYPED)
    editor.drafts.write()
    assert _drafts(on) == [editor.drafts.file]
    return editor


def _drafts(on: Stage) -> list[Path]:
    return list(drafts_directory(on.context).glob("*.json"))


async def _answer(on: Stage, verb: str) -> None:
    on.context.trigger("tab.close")
    box = await eventually(lambda: on.window.findChild(QMessageBox))
    assert [button.text() for button in box.buttons()].count(verb) == 1
    next(button for button in box.buttons() if button.text() == verb).click()


def test_text_that_was_given_up_is_not_recovered(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        await _drafted(on)
        await _answer(on, "Close without saving")
        assert on.window.tabs.editors() == []
        assert _drafts(on) == []

    play(qapp, state_dir, scenario, connect=False)


def test_editing_goes_on_with_its_draft(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        editor = await _drafted(on)
        await _answer(on, "Keep editing")
        assert on.window.tabs.editors() == [editor]
        assert _drafts(on) == [editor.drafts.file]

    play(qapp, state_dir, scenario, connect=False)


def test_the_tab_closes_once_the_text_is_saved(qapp: QApplication, state_dir: Path, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        editor = await _drafted(on)
        await _answer(on, "Save")
        dialog = await eventually(lambda: editor.findChild(QFileDialog))
        assert on.window.tabs.editors() == [editor]
        dialog.fileSelected.emit(str(tmp_path / "mine.jdl"))
        dialog.close()
        assert on.window.tabs.editors() == []
        assert (tmp_path / "mine.jdl").read_text() == TYPED
        assert _drafts(on) == []

    play(qapp, state_dir, scenario, connect=False)


def test_a_save_that_was_not_finished_closes_nothing_later(
    qapp: QApplication, state_dir: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        editor = await _drafted(on)
        await _answer(on, "Save")
        (await eventually(lambda: editor.findChild(QFileDialog))).reject()
        editor.path = tmp_path / "mine.jdl"
        editor.save()
        assert on.window.tabs.editors() == [editor]
        assert not editor.dirty

    play(qapp, state_dir, scenario, connect=False)


@pytest.mark.parametrize("name", ["file.save", "file.save_as"])
def test_saving_stands_in_menu_palette_and_keys(qapp: QApplication, state_dir: Path, name: str) -> None:
    async def scenario(on: Stage) -> None:
        actions, action = on.context.actions, BY_ID[name]
        assert action not in actions.usable()
        editor = await _drafted(on)
        assert action in actions.usable()
        titles = [find.title for find in on.window.handlers.finder.find("save description")]
        assert action.text.rstrip("…") in titles
        sheet = sheets.shortcuts(on.window)
        words = {label.text() for label in sheet.findChildren(QLabel)}
        sheet.deleteLater()
        assert {action.text.rstrip("…"), action.shortcut} <= words
        on.context.trigger(name)
        dialog = await eventually(lambda: editor.findChild(QFileDialog))
        dialog.close()
        on.context.trigger("view.jobs")
        assert action not in actions.usable()

    play(qapp, state_dir, scenario, connect=False)


def test_the_key_of_saving_saves_in_the_editor_only(
    qapp: QApplication, state_dir: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        editor = await _drafted(on)
        editor.path = tmp_path / "mine.jdl"
        QTest.keyClick(editor.source, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        assert (tmp_path / "mine.jdl").read_text() == TYPED
        assert on.context.actions.qt("job.fetch").shortcut().toString() == "Ctrl+S"

    play(qapp, state_dir, scenario, connect=False)
