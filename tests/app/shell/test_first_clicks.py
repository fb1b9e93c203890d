"""The tasks that begin with nothing: a sample and an own script, by mouse and keys, every click counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QLabel, QToolButton

from app.editor.editor import Editor
from app.inspector.inspector import Inspector
from app.inspector.logs.pane import LogsPane
from app.submission.sheet import SubmissionSheet
from app.welcome.pane import WelcomePane
from tests.app.clicks import Clicks
from tests.app.windows import Stage, play
from tests.waiting import eventually

BODY = """import sys
total = sum(float(line) for line in open(sys.argv[2])) if sys.argv[2:] else 0
print(sys.argv[1], total)
open("my result.txt", "w").write(str(total))
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as a stranger has it: a script without `#!`, a space in its name, and data."""
    folder = tmp_path / "my work"
    folder.mkdir()
    (folder / "my analysis.py").write_text(BODY)
    (folder / "run 7.txt").write_text("1\n2.5\n")
    monkeypatch.chdir(folder)
    return folder


async def _done(on: Stage) -> str:
    """The id of the one job, once it has ended well."""
    await eventually(lambda: len(on.context.jobs) == 1, what="the job is there")
    job = str(on.context.jobs.columns["id"][0])
    await eventually(lambda: on.ended(job), 60, "the job ends")
    row = on.context.jobs.row(job) or {}
    assert (row["state"], row["exit_code"]) == ("Done", 0)
    return job


async def _printed(on: Stage, job: str) -> str:
    return (await on.context.client.read_file(job, "std.out")).content.decode()


def test_a_sample_runs_and_shows_its_log_with_one_click(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.trigger("view.welcome")  # as the window is met first
        page = on.window.tabs.currentWidget()
        assert isinstance(page, WelcomePane)
        card = next(one for one in page.cards if "heat" in one.run.accessibleName())
        await eventually(card.run.isEnabled)
        page.ensureWidgetVisible(card.run)  # the wheel is no click
        hand = Clicks()
        hand.click(card.run)
        inspector = on.window.inspector
        assert isinstance(inspector, Inspector)
        logs = inspector.panes["logs"]
        assert isinstance(logs, LogsPane)
        await eventually(logs.isVisible)
        await eventually(lambda: "step" in logs.view.visible_text(), what="the log is shown")
        await _done(on)
        assert logs.isVisible()
        assert hand.count == 1

    play(qapp, broker, scenario)


def test_new_leads_in_four_clicks_to_the_result_of_an_own_script(
    qapp: QApplication, broker: Path, work: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        hand, buttons = Clicks(), on.window.toolbar.findChildren(QToolButton)
        new = next(one for one in buttons if one.accessibleName() == "New")
        hand.click(new, QPoint(10, 10))
        editor = on.window.tabs.editor()
        assert isinstance(editor, Editor)
        await eventually(lambda: not editor.checking.pending)
        assert editor.problems.problems == (), "no error before a keystroke"
        assert not editor.source.isVisible(), "the text comes second"
        hand.click(editor.form.widgets["Executable"].button)  # type: ignore[attr-defined]
        await hand.choose_file(on.window, work / "my analysis.py")
        said = [one.text() for one in editor.form.findChildren(QLabel)]
        assert "Python script without “#!”: will be run with python3." in said
        hand.type(editor.form.widgets["Arguments"].line, "nothing")  # type: ignore[attr-defined]
        assert on.window.tabs.tabText(on.window.tabs.currentIndex()) == "my-analysis •"
        await eventually(lambda: not editor.checking.pending)
        hand.click(editor.bar.submit)
        job = await _done(on)
        assert hand.count == 4
        assert await _printed(on, job) == "nothing 0\n"
        names = [file.path for file in await on.context.client.files(job)]
        assert "my result.txt" in names

    play(qapp, broker, scenario)


def test_a_dropped_script_with_data_takes_one_click_with_its_arguments(
    qapp: QApplication, broker: Path, work: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        hand, center = Clicks(), on.window.jobs.geometry().center()
        hand.drop(on.window, center, work / "my analysis.py", work / "run 7.txt")
        sheet = on.window.findChild(SubmissionSheet)
        assert sheet is not None
        assert sheet.focusWidget() is sheet.form.arguments
        hand.type(sheet.form.arguments, "dropped 'run 7.txt'")
        await eventually(sheet.form.submit.isEnabled)
        hand.click(sheet.form.submit)
        job = await _done(on)
        assert (hand.drags, hand.count) == (1, 1)
        assert await _printed(on, job) == "dropped 3.5\n"

    play(qapp, broker, scenario)
