"""The settings take effect where they say: notices, logs, the site of new jobs, the folder of output."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QFileDialog

from app.console.terminal.view import TerminalView
from app.context import Notice, Tone
from app.shell import news
from app.shell.settings import SettingsDialog
from app.stores.preferences import Preferences
from app.submission.draft import JobDraft
from app.submission.sheet import SheetStage, SubmissionSheet
from app.theme.theme import MONO
from broker_core.wire.views import RetentionChange, RetentionView
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually


def _field(dialog: SettingsDialog, name: str) -> QComboBox:
    return next(one for one in dialog.findChildren(QComboBox) if one.accessibleName() == name)


def test_new_jobs_go_to_the_site_that_was_chosen(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await eventually(lambda: on.context.sites.views)
        dialog = SettingsDialog(on.context, on.window)
        where = _field(dialog, "Send new jobs to")
        where.setCurrentIndex(where.findData("local"))
        dialog.close()
        sheet = SubmissionSheet(on.context, (JobDraft("a", 'Executable = "/bin/echo";'),), on.window)
        sheet.open()
        await eventually(lambda: sheet.stage is SheetStage.READY)
        assert sheet.form.chosen_site() == "local"
        sheet.close()
        await turns()

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_output_is_offered_the_folder_that_was_chosen(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        dialog = SettingsDialog(on.context, on.window)
        dialog.folder.setText(str(tmp_path))
        dialog.close()
        on.window.show_job(await on.finished("fails"))
        await eventually(on.window.jobs.view.chosen)
        on.window.handlers.jobs.fetch()
        asked = next(one for one in on.window.findChildren(QFileDialog) if one.isVisible())
        assert asked.directory().absolutePath() == str(tmp_path)
        asked.close()

    play(qapp, broker, scenario)


@pytest.mark.expected_log("window_context: bad")
@pytest.mark.parametrize(("chosen", "told"), [("all", ["good", "bad"]), ("failures", ["bad"]), ("none", [])])
def test_the_desktop_is_told_what_was_chosen(
    qapp: QApplication, state_dir: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, told: list[str]
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(news, "show", lambda text: shown.append(text) or True)

    async def scenario(on: Stage) -> None:
        dialog = SettingsDialog(on.context, on.window)
        choice = _field(dialog, "Notices on the desktop")
        choice.setCurrentIndex(choice.findData(chosen))
        wrap = next(one for one in dialog.findChildren(QCheckBox) if "Wrap" in one.text())
        wrap.setChecked(False)
        assert on.context.preferences["wrap_logs"] is False
        monkeypatch.setattr(type(on.window), "isActiveWindow", lambda self: False)
        on.context.notify(Notice("good", Tone.GOOD, job="1"))
        on.context.notify(Notice("bad", Tone.BAD, job="2"))
        await turns()
        await eventually(lambda: sorted(shown) == sorted(told))

    play(qapp, state_dir, scenario, connect=False)


def test_a_desk_that_was_told_to_be_silent_stays_so(tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    file.write_text('{"notifications": false}')
    assert Preferences(file)["notify"] == "none"


def test_what_the_broker_keeps_is_chosen_in_the_settings(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.context.client.choose_retention(RetentionChange(left_age=3600.0))
        dialog = SettingsDialog(on.context, on.window)
        await eventually(lambda: dialog.retention.view)
        old = _field(dialog, "Remove ended jobs")
        assert old.currentText() == "Never"
        assert _field(dialog, "Keep the rest at its site").currentText() == "For 1 h"
        old.setCurrentIndex(old.findText("After 30 days"))
        old.activated.emit(old.currentIndex())
        await eventually(lambda: dialog.retention.view.jobs_age == 30 * 86_400.0)
        assert (await on.context.client.retention()).jobs_age == 30 * 86_400.0
        dialog.close()
        await turns()

    stage = play(qapp, broker, scenario)
    assert stage.leftovers == []


def test_what_others_decide_is_shown_with_the_reason(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        dialog = SettingsDialog(on.context, on.window)
        await eventually(lambda: dialog.retention.view)
        why = "Only administrators change these settings of a shared broker."
        shown = RetentionView(jobs_age=86_400.0, results_max=0, left_age=0.0, left_max=5, fixed=why)
        dialog.retention._show(shown)
        assert not any(choice.isVisibleTo(dialog.retention) for choice in dialog.retention.choices.values())
        facts = {name: fact.text() for name, fact in dialog.retention.facts.items()}
        assert facts == {
            "jobs_age": "After 1 day",
            "results_max": "Everything",
            "left_age": "Until the job is removed",
            "left_max": "5 B",
            "inputs_age": "For ever",
            "inputs_max": "No limit",
        }
        assert dialog.retention.about.text() == why
        dialog.close()
        await turns()

    play(qapp, broker, scenario)


def test_without_a_broker_nothing_of_it_can_be_chosen(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        dialog = SettingsDialog(on.context, on.window)
        assert not any(choice.isEnabled() for choice in dialog.retention.choices.values())
        assert dialog.retention.about.text() == "The broker is not connected."
        dialog.close()
        await turns()

    play(qapp, state_dir, scenario, connect=False)


def test_consoles_have_the_font_that_was_chosen(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        view = TerminalView(on.context)
        assert view.face.family() == MONO
        dialog = SettingsDialog(on.context, on.window)
        choice = _field(dialog, "Font of consoles")
        other = choice.count() - 1
        assert other > 0, "a machine has another font of one width"
        choice.setCurrentIndex(other)
        assert view.face.family() == choice.currentText() == on.context.preferences["console_font"]
        dialog.close()
        on.context.preferences["console_font"] = "No such font here"
        assert view.face.family() == MONO
        view.deleteLater()

    play(qapp, broker, scenario)
