"""A batch script that is dropped or opened: what became of its lines is seen before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.drops.plan import plan_for, sentence
from app.editor.editor import Editor
from app.submission.draft import open_file
from app.submission.script_lines import ScriptLines
from app.submission.sheet import SubmissionSheet
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from tests.app.bench_context import BenchContext
from tests.app.pictures import PICTURES

TEXT = """#!/bin/sh
#SBATCH --job-name=<b>train</b>
#SBATCH --cpus-per-task=4 --mem=2G
#SBATCH --dependency=afterok:7
#SBATCH --mail-type=END
echo "$SLURM_CPUS_PER_TASK"
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.sbatch"
    path.write_text(TEXT)
    return path


def _words(lines: QWidget) -> list[str]:
    return [label.text() for label in lines.findChildren(QLabel) if label.text()]


def test_the_sheet_has_the_lines_and_warns_of_what_is_not_possible(
    context: BenchContext, qtbot: QtBot, script: Path
) -> None:
    plan = plan_for([classify(facts_of(script))])
    assert sentence(plan)[0] == "Drop to run this Slurm script"
    window = QWidget()
    qtbot.addWidget(window)
    sheet = SubmissionSheet(context, plan.jobs, window)
    sheet.open()
    lines = sheet.findChild(ScriptLines)
    assert lines is not None
    words = _words(lines)
    assert "NodeNumber = 4" in words
    assert any(text.startswith("Not possible. Jobs do not wait for each other") for text in words)
    qtbot.waitUntil(lambda: bool(sheet.form.remarks.shown))
    assert ("warning", "Line 4: --dependency=afterok:7 is not possible.") in [
        (severity, text[:47]) for severity, text in sheet.form.remarks.shown
    ]
    assert sheet.grab().save(str(PICTURES / "desk-drop-batch-script.png"))
    sheet.reject()


def test_the_editor_shows_the_lines_beside_the_description_and_goes_back_to_the_form(
    context: BenchContext, qtbot: QtBot, script: Path
) -> None:
    assert open_file(context, script)
    editor = Editor(context)
    qtbot.addWidget(editor)
    editor.resize(1100, 640)
    editor.show()
    editor.use_program(str(script))
    assert 'JobName = "b-train-b";' in editor.text()
    lines = editor.side.findChild(ScriptLines)
    assert lines is not None
    assert lines.isVisible()
    editor.set_text(editor.text() + "\n")
    assert lines.isVisible()  # typing does not take them away
    qtbot.waitUntil(lambda: editor.source.geometry().right() < editor.side.geometry().left())
    assert editor.grab().save(str(PICTURES / "desk-editor-batch-script.png"))
    editor.side.scriptLeft.emit()
    assert not lines.isVisible()
    assert editor.form.isVisible()
    editor.bar.lines.click()
    assert lines.isVisible()
    editor.give_up()
