"""The editor as it is used: typing, form, fixes, completion, keys, saving."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.description.templates import TEMPLATES
from app.editor.editor import Editor
from app.editor.recovery import drafts_directory
from app.theme.tokens import Mode
from app.widgets.csv_file import write_csv
from broker_core.jdl.check import check
from tests.app.bench_context import BenchContext

TEXT = """// kept remark
Executable = "analyse.sh";  // and this one
Arguments = "in.csv";
InputSandbox = {"analyse.sh"};
StdOutput = "std.out";
"""
Make = Callable[..., Editor]


@pytest.fixture
def make(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Make:
    """Make an editor in a shown window and wait until it has checked its text."""
    (tmp_path / "analyse.sh").write_text("#!/bin/sh\n")

    def made(text: str = TEXT, mode: Mode = Mode.LIGHT, size: tuple[int, int] = (1280, 800)) -> Editor:
        path = tmp_path / "job.jdl"
        path.write_text(text)
        editor = Editor(BenchContext(qapp, mode=mode), text, path)
        qtbot.addWidget(editor)
        editor.resize(*size)
        editor.show()
        qtbot.waitExposed(editor)
        qtbot.waitUntil(lambda: not editor.checking.pending, timeout=60_000)
        return editor

    return made


def _line(editor: Editor, attribute: str) -> QLineEdit:
    return editor.form.widgets[attribute].line  # type: ignore[attr-defined, no-any-return]


def _end(editor: Editor) -> None:
    editor.source.moveCursor(QTextCursor.MoveOperation.End)


def test_a_form_field_changes_its_attribute_and_nothing_else(make: Make) -> None:
    editor = make()
    line = _line(editor, "Arguments")
    line.selectAll()
    QTest.keyClicks(line, 'a "b" c')
    assert editor.text() == TEXT.replace('"in.csv"', '"a \\"b\\" c"')
    assert line.text() == 'a "b" c'


def test_typing_in_a_field_is_one_step_to_undo(make: Make) -> None:
    editor = make()
    line = _line(editor, "Arguments")
    line.selectAll()
    QTest.keyClicks(line, "one two")
    QTest.keyClicks(_line(editor, "JobName"), "mine")
    assert 'JobName = "mine";' in editor.text()
    editor.source.undo()
    assert "JobName" not in editor.text()
    assert '"one two"' in editor.text()
    editor.source.undo()
    assert editor.text() == TEXT
    assert line.text() == "in.csv"


def test_typing_in_the_text_fills_the_form(make: Make) -> None:
    editor = make()
    _end(editor)
    QTest.keyClicks(editor.source, 'NodeNumber = 4;JobType = "Parallel";')
    spin, box = editor.form.widgets["CpuNumber"].spin, editor.form.widgets["JobType"].box  # type: ignore[attr-defined]
    assert isinstance(spin, QSpinBox)
    assert isinstance(box, QComboBox)
    assert (spin.value(), box.currentData()) == (4, "Parallel")


def test_an_emptied_field_takes_the_attribute_out(make: Make) -> None:
    editor = make()
    line = _line(editor, "Arguments")
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Delete)
    assert editor.text() == TEXT.replace('Arguments = "in.csv";\n', "")


def test_a_value_that_a_field_cannot_hold_is_left_to_the_text(make: Make) -> None:
    editor = make(TEXT.replace('"in.csv"', 'strcat("a", "b")'))
    assert not _line(editor, "Arguments").isEnabled()
    assert "text" in editor.form.widgets["Arguments"].toolTip()
    assert 'strcat("a", "b")' in editor.text()


def test_files_are_added_removed_and_summed_up(make: Make, tmp_path: Path) -> None:
    editor = make()
    (tmp_path / "a b.dat").write_bytes(b"x" * 2048)
    sandbox = editor.form.sandbox
    editor.add_files([tmp_path / "a b.dat", tmp_path / "analyse.sh"])
    assert 'InputSandbox = {"analyse.sh", "a b.dat"};' in editor.text()
    assert [entry.size for entry in sandbox.entries] == [10, 2048]
    assert sandbox.total.text().startswith("2.0 KiB of ")
    sandbox.table.selectRow(0)
    sandbox.remove_selected()
    assert 'InputSandbox = {"a b.dat"};' in editor.text()


def test_a_missing_file_is_marked_in_text_list_and_form(make: Make, qtbot: QtBot) -> None:
    editor = make(TEXT.replace('{"analyse.sh"}', '{"analyse.sh", "gone.dat"}'))
    assert [problem.line for problem in editor.problems.problems if "gone.dat" in problem.message] == [4]
    assert [entry.fault for entry in editor.form.sandbox.entries] == ["", "missing"]
    assert any(selection.format.underlineColor().isValid() for selection in editor.source.extraSelections())
    assert editor.source.problems_of_line(4)


def test_a_quick_fix_mends_the_text(make: Make, qtbot: QtBot) -> None:
    editor = make(TEXT.replace("StdOutput", "StdOutpt"))
    fixable = [problem for problem in editor.problems.problems if problem.fixes]
    assert fixable
    QTest.keyClick(editor.source, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not editor.checking.pending, timeout=60_000)
    assert editor.text() == TEXT


def test_problems_are_exported_with_their_places(make: Make, qtbot: QtBot, tmp_path: Path) -> None:
    editor = make(TEXT.replace('{"analyse.sh"}', '{"analyse.sh", "gone.dat"}'))
    assert [one.text() for one in editor.problems.table.actions()] == ["Export problems as CSV…"]
    work = editor.problems.gather()
    with pytest.raises(StopIteration) as done:
        work.send(None)
    assert write_csv(tmp_path / "problems.csv", done.value.value) == len(editor.problems.problems)
    header, *lines = (tmp_path / "problems.csv").read_text().splitlines()
    assert header == "severity,line,column,problem"
    (gone,) = (line for line in lines if "gone.dat" in line)
    assert gone.startswith("error,4,")


def test_choosing_a_problem_puts_the_cursor_on_it(make: Make) -> None:
    editor = make(TEXT.replace('{"analyse.sh"}', '{"analyse.sh", "gone.dat"}'))
    editor.problems.table.itemActivated.emit(editor.problems.table.item(0, 0))
    assert editor.source.textCursor().selectedText() == '"gone.dat"'


def test_completion_shows_documentation_and_writes_the_attribute(make: Make) -> None:
    editor = make()
    _end(editor)
    QTest.keyClicks(editor.source, "OutputS")
    assert editor.completer.isVisible()
    assert "bring back" in editor.completer.about.text()
    QTest.keyClick(editor.source, Qt.Key.Key_Return)
    QTest.keyClicks(editor.source, '"x"')
    assert editor.text().endswith('OutputSandbox = {"x"};')
    assert not editor.completer.isVisible()


def test_escape_closes_completion_and_arrows_choose(make: Make) -> None:
    editor = make()
    _end(editor)
    QTest.keyClicks(editor.source, 'SubJobType = "p')
    QTest.keyClick(editor.source, Qt.Key.Key_Down)
    QTest.keyClick(editor.source, Qt.Key.Key_Tab)
    assert editor.text().endswith('SubJobType = "plain')
    QTest.keyClick(editor.source, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(editor.source, Qt.Key.Key_Escape)
    assert not editor.completer.isVisible()


def test_emoji_do_not_shift_problems_or_edits(make: Make) -> None:
    editor = make("// 😀😀\n" + TEXT.replace("StdOutput", "StdOutpt"))
    QTest.keyClick(editor.source, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    assert editor.text() == "// 😀😀\n" + TEXT


def test_saving_with_the_keyboard_clears_the_mark_and_the_draft(make: Make, qtbot: QtBot) -> None:
    editor = make()
    assert not editor.dirty
    _end(editor)
    with qtbot.waitSignal(editor.titleChanged, timeout=60_000) as told:
        QTest.keyClicks(editor.source, "// more")
    assert told.args == ["job.jdl •"]
    editor.drafts.write()
    assert json.loads(editor.drafts.file.read_text())["text"] == editor.text()
    QTest.keyClick(editor.source, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert not editor.dirty
    assert editor.path is not None
    assert editor.path.read_text() == editor.text()
    assert os.listdir(drafts_directory(editor.context)) == []


def test_a_failed_save_is_told_and_keeps_the_text_unsaved(make: Make, tmp_path: Path) -> None:
    editor = make()
    editor.path = tmp_path / "gone" / "job.jdl"
    _end(editor)
    QTest.keyClicks(editor.source, "//")
    editor.save()
    assert editor.dirty
    assert isinstance(editor.context, BenchContext)
    assert "was not saved" in editor.context.notices[-1].text


def test_sides_can_be_chosen_and_a_long_text_has_no_form(make: Make) -> None:
    editor = make()
    editor.show_sides("form")
    assert (editor.source.isVisible(), editor.form.isVisible()) == (False, True)
    editor.show_sides("text")
    assert (editor.source.isVisible(), editor.form.isVisible()) == (True, False)
    editor.source.setPlainText("// " + "x" * 300_000)
    editor.show_sides("both")
    assert not editor.form.isVisible()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.file)
def test_every_template_can_be_read_and_only_lacks_the_users_files(template: object) -> None:
    errors = [d for d in check(template.text()).diagnostics if d.severity == "error"]  # type: ignore[attr-defined]
    assert [d.code for d in errors if "sandbox" not in d.code and d.attribute != "InputSandbox"] == []


def test_a_template_replaces_the_text_and_undo_brings_it_back(make: Make) -> None:
    editor = make()
    editor.use_template(TEMPLATES[0].text())
    assert editor.text() == TEMPLATES[0].text()
    editor.source.undo()
    assert editor.text() == TEXT


@pytest.mark.parametrize("text", ["", "{{{{", "\x01\x02", '"' * 50, "[" * 3000, "é😀" * 500, "a=" * 3000])
def test_any_text_can_be_shown_checked_and_typed_into(make: Make, qtbot: QtBot, text: str) -> None:
    editor = make(text)
    _end(editor)
    QTest.keyClicks(editor.source, ";")
    qtbot.waitUntil(lambda: not editor.checking.pending, timeout=60_000)
    assert editor.text().endswith(";")


def test_every_control_has_a_name(make: Make) -> None:
    editor = make()
    controls = (QAbstractButton, QLineEdit, QComboBox, QSpinBox, QPlainTextEdit)
    nameless = []
    for kind in controls:
        for widget in editor.findChildren(kind):
            interface = QAccessible.queryAccessibleInterface(widget)
            if widget.isVisible() and not interface.text(QAccessible.Text.Name) and not _inner(widget):
                nameless.append(widget)
    assert nameless == []


def _inner(widget: QWidget) -> bool:
    return widget.objectName().startswith("qt_")


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_the_editor_is_pictured(make: Make, mode: Mode, size: tuple[int, int]) -> None:
    editor = make(TEXT.replace("StdOutput", "StdOutpt"), mode, size)
    folder = Path("build/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    assert editor.grab().save(str(folder / f"editor-{mode}-{size[0]}.png"))
