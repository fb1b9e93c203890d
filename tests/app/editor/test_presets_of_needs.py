"""Presets of what jobs need: saved from the form, applied to it and in sheets, edited and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QInputDialog
from pytestqt.qtbot import QtBot

from app.description.needs import changes_of, needs_of, with_needs
from app.editor.editor import Editor
from app.editor.form.presets import PresetSheet
from app.jobs.rerun_sheet import RerunSheet
from app.stores.roaming import FOLLOWING
from app.submission.draft import JobDraft
from app.submission.sheet import SubmissionSheet
from app.theme.tokens import Mode
from app.widgets.confirm import QMessageBox
from broker_core.jdl.changes import with_changes
from broker_core.jdl.check import check
from tests.app.bench_context import BenchContext
from tests.app.pictures import PICTURES

TEXT = 'Executable = "/bin/echo";\n'
A100 = 'CpuNumber = 8;\nGPUNumber = 1;\nGPUModel = "a100";\nWallTime = "1d";\n'


class _Asked(BenchContext):
    """A context that only remembers what is to be done later."""

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> Any:
        work.close()
        ended: asyncio.Future[Any] = asyncio.Future(loop=asyncio.new_event_loop())
        ended.get_loop().close()
        return ended


@pytest.fixture
def context(qapp: QApplication) -> BenchContext:
    made = BenchContext(qapp, mode=Mode.DARK)
    made.presets.save("small", "CpuNumber = 1;\nMemoryPerNode = 2000;\n")
    made.presets.save("one A100 for a day", A100)
    return made


@pytest.fixture
def editor(context: BenchContext, qtbot: QtBot) -> Editor:
    made = Editor(context, TEXT)
    qtbot.addWidget(made)
    made.resize(620, 900)
    made.show()
    qtbot.waitExposed(made)
    qtbot.waitUntil(lambda: not made.checking.pending, timeout=60_000)
    return made


def _names(editor: Editor) -> list[str]:
    return [action.text() for action in editor.form.presets.menu().actions() if action.text()]


def test_a_preset_sets_all_sizes_and_leaves_names_alone() -> None:
    text = TEXT + 'NodeNumber = 4; MemoryPerCPU = 100; Account = "phys"; Rank = 1;'
    shown = with_needs(text, A100)
    found = check(shown).description
    assert found is not None
    assert (found.cpus, found.request.gpus, found.request.gpu_model) == (8, 1, "a100")
    assert (found.request.memory_per_cpu, found.request.account) == (0, "phys")
    assert "Rank = 1;" in shown
    assert with_changes(text, changes_of(A100)).count("CpuNumber") == 1
    changed = check(with_changes(text, changes_of(A100))).description
    assert changed is not None
    assert (changed.cpus, changed.request) == (found.cpus, found.request)
    assert needs_of(shown) == A100 + 'Account = "phys";\n'


def test_a_preset_fills_the_form_in_and_undo_takes_it_back(editor: Editor) -> None:
    assert _names(editor) == ["small", "one A100 for a day", "Save as preset…", "Edit presets…"]
    editor.form.presets.menu().actions()[1].trigger()
    assert editor.text().strip() == (TEXT + A100).strip()
    assert editor.form.widgets["GPUModel"].box.currentText() == "a100"  # type: ignore[attr-defined]
    assert editor.grab().save(str(PICTURES / f"presets-form-{editor.context.theme.mode}.png"))
    editor.source.undo()
    assert editor.text() == TEXT


def test_what_the_form_asks_for_is_saved_and_travels_with_the_users_templates(editor: Editor) -> None:
    save = editor.form.presets.menu().actions()[-2]
    save.trigger()
    told = editor.form.presets.findChild(QMessageBox)
    assert told is not None
    assert told.text() == "Nothing is asked for yet"
    told.close()
    editor.source.setPlainText(TEXT + 'GPUNumber = 2; QOS = "long";')
    save.trigger()
    asked = editor.form.presets.findChild(QInputDialog)
    assert asked is not None
    asked.setTextValue("two GPUs")
    asked.accept()
    kept = {one.name: one.text for one in editor.context.presets.all}
    assert kept["two GPUs"] == 'GPUNumber = 2;\nQOS = "long";\n'
    assert "two GPUs" in _names(editor)
    assert {"presets", "templates"} <= {*FOLLOWING}


def test_presets_are_renamed_changed_and_deleted(context: BenchContext, qtbot: QtBot) -> None:
    sheet = PresetSheet(context.theme, context.presets, None)  # type: ignore[arg-type]
    qtbot.addWidget(sheet)
    sheet.open()
    assert sheet.grab().save(str(PICTURES / f"presets-sheet-{context.theme.mode}.png"))
    sheet.name.setText("one A100 for a day")
    assert not sheet.save.isEnabled()
    sheet.name.setText("tiny")
    for wrong in ("Rank = 1;", "CpuNumber = 0;", "CpuNumber = ;"):
        sheet.text.setPlainText(wrong)
        assert not sheet.save.isEnabled(), wrong
        assert sheet.problem.text()
    sheet.text.setPlainText("MemoryPerNode = 500;\n")
    sheet.save.click()
    kept = {one.name: one.text for one in context.presets.all}
    assert kept == {"one A100 for a day": A100, "tiny": "MemoryPerNode = 500;\n"}
    for _ in range(2):
        sheet.delete.click()
    assert context.presets.all == ()
    assert not sheet.delete.isEnabled()


def test_jobs_that_are_run_again_follow_a_preset_and_what_is_written_beside_it(
    context: BenchContext, qtbot: QtBot
) -> None:
    parent = QDialog()
    qtbot.addWidget(parent)
    sheet = RerunSheet(context, ["1"], parent)  # type: ignore[arg-type]
    sheet.open()
    assert sheet.changes() == {}
    sheet.preset.setCurrentText("one A100 for a day")
    sheet.memory.setText("4G")
    assert sheet.grab().save(str(PICTURES / f"presets-rerun-{context.theme.mode}.png"))
    found = check(with_changes(TEXT + "NodeNumber = 2;", sheet.changes())).description
    assert found is not None
    assert (found.cpus, found.request.gpus, found.request.memory_per_node) == (8, 1, 4096)
    assert found.wall_limit == 86400


def test_what_was_dropped_follows_a_preset_and_goes_back(
    qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    context = _Asked(qapp)
    context.presets.save("one A100 for a day", A100)
    parent = QDialog()
    qtbot.addWidget(parent)
    text = TEXT + "NodeNumber = 1;\n"
    sheet = SubmissionSheet(context, (JobDraft("echo", text, base=tmp_path),), parent)  # type: ignore[arg-type]
    sheet.show()
    preset = sheet.form.preset
    assert preset.isVisible()
    QTest.keyClick(preset, Qt.Key.Key_Down)
    assert preset.currentText() == "one A100 for a day"
    found = check(sheet.jobs[0].text).description
    assert found is not None
    assert (found.cpus, found.request.gpus) == (8, 1)
    QTest.keyClick(preset, Qt.Key.Key_Up)
    assert sheet.jobs[0].text == text
    sheet.reject()
