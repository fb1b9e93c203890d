"""What is done most often takes no more clicks than it needs: each task by mouse and keys, and counted.

The tasks with jobs that exist already: looking at them, ending them, and running them again. Those that
begin with nothing stand in `test_first_clicks.py`, adding a cluster in `tests/app/sites/real`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMessageBox

from app.console.pane import ConsolePane
from app.editor.editor import Editor
from app.inspector.inspector import Inspector
from app.jobs.columns import BY_NAME
from broker_core.client.prepare import prepare
from broker_core.client.samples import sample
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.clicks import Clicks
from tests.app.windows import Stage, play
from tests.waiting import eventually

SCRIPT = r"""[
  Executable = "/bin/sh"; Arguments = "-c '%s'"; JobName = "work-_PARAM_";
  StdOutput = "out.txt"; StdError = "err.txt"; OutputSandbox = {"out.txt", "err.txt"};%s
]
"""
WAIT = "while [ ! -e %s ]; do read x < /proc/uptime; done; "
"""A shell that waits for a file."""


async def _submitted(on: Stage, command: str, values: list[str] | None = None, more: str = "") -> list[str]:
    """Jobs that were submitted elsewhere: nothing is selected in the window."""
    await on.ready()
    item = SubmissionItem(description=SCRIPT % (command, more), name="work", values=values)
    ids = (await on.context.client.submit(Submission(key="one-of-ten-tasks", items=[item]))).ids
    await eventually(lambda: set(ids) <= on.context.jobs.at.keys())
    return ids


def _state(on: Stage, job: str) -> str:
    return str((on.context.jobs.row(job) or {}).get("state"))


def _inspector(on: Stage) -> Inspector:
    inspector = on.window.inspector
    assert inspector is not None
    return inspector


def _pane(on: Stage, name: str) -> Any:
    inspector = _inspector(on)
    assert inspector.tab() == name, f"{inspector.tab()} is in front"
    return inspector.panes[name]


@pytest.mark.expected_log(r"\d+ failed|ended: .* failed")
def test_why_a_job_failed_takes_one_click(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        [job] = await _submitted(on, "echo checking; echo error: no map >&2; exit 7")
        await eventually(lambda: on.ended(job))
        hand, header = Clicks(), _inspector(on).header
        await hand.job(on, job)
        await eventually(header.why.isVisible)
        assert header.why.text() == "Exit 7 · error: no map"
        assert hand.count == 1

    play(qapp, broker, scenario)


def test_why_a_job_waits_takes_one_click_or_a_look_at_its_line(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        [job] = await _submitted(on, "true", more="CpuNumber = 4000;")
        table = on.window.jobs.table

        def tip() -> str:
            return str(table.data(table.index(0, BY_NAME["state"]), Qt.ItemDataRole.ToolTipRole) or "")

        await eventually(lambda: "4000" in tip(), what=tip)
        hand = Clicks()
        await hand.job(on, job)
        waiting = _pane(on, "story").waiting
        await eventually(waiting.isVisible)
        assert "4000" in waiting.accessibleName()
        assert hand.count == 1

    play(qapp, broker, scenario)


def test_following_a_log_takes_one_click_whatever_was_looked_at_before(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        gate = tmp_path / "go"
        [job] = await _submitted(on, "echo first; " + WAIT % gate + "echo last")
        ended = await on.finished("heat-image")
        on.window.show_job(ended, "story")
        await eventually(lambda: _state(on, job) == "Running")
        hand = Clicks()
        await hand.job(on, job)
        logs = _pane(on, "logs")
        await eventually(lambda: "first" in logs.view.visible_text())
        gate.touch()
        await eventually(lambda: "last" in logs.view.visible_text())
        assert hand.count == 1

    play(qapp, broker, scenario)


def test_a_running_batch_is_canceled_with_three_clicks(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        ids = await _submitted(on, WAIT % (tmp_path / "never"), ["1", "2", "3", "4"])
        await eventually(lambda: any(_state(on, job) == "Running" for job in ids))
        hand = Clicks()
        await hand.job(on, ids[0])
        await hand.button(_inspector(on), "Cancel 4…")
        box = await eventually(lambda: on.window.findChild(QMessageBox))
        await hand.button(box, "Cancel 4 jobs")
        await eventually(lambda: all(_state(on, job) == "Canceled" for job in ids), 90)
        assert hand.count == 3

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed|ended: .* failed")
def test_what_failed_of_a_batch_runs_again_with_two_clicks(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        flag = tmp_path / "flag"
        ids = await _submitted(on, f"test -e {flag} || test _PARAM_ -gt 2", ["1", "2", "3", "4"])
        await eventually(lambda: all(on.ended(job) for job in ids), 90)
        flag.touch()
        hand = Clicks()
        await hand.job(on, ids[0])
        await hand.button(_inspector(on), "Rerun 2 failed")
        await eventually(lambda: on.window.jobs.table.text(0, BY_NAME["state"]) == "4 of 4 done", 90)
        assert hand.count == 2

    play(qapp, broker, scenario)


def test_a_value_is_changed_and_run_again_with_three_clicks(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        first = await on.finished("heat-image")  # its program is a relative file
        hand = Clicks()
        await hand.job(on, first, "menu")
        await hand.entry(on.window.jobs, "New like this…")
        editor = await eventually(on.window.tabs.editor)
        assert isinstance(editor, Editor)
        line = editor.form.widgets["Arguments"].line  # type: ignore[attr-defined]
        assert isinstance(line, QLineEdit)
        line.selectAll()
        hand.type(line, "--side 16 --steps 6 --pictures 1")
        hand.click(editor.bar.submit)
        await eventually(lambda: len(on.context.jobs) == 2, what="the second job is there")
        second = next(job for job in on.context.jobs.at if job != first)
        await eventually(lambda: on.ended(second), 90)
        assert (on.context.jobs.row(second) or {})["exit_code"] == 0
        assert "--side 16" in (await on.context.client.job(second)).description
        await eventually(lambda: _inspector(on).ids == [second], what="it is the one in front")
        assert hand.count == 3

    play(qapp, broker, scenario)


def test_results_of_the_job_in_front_are_saved_with_one_click(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        [job] = await _submitted(on, "echo 42")
        await eventually(lambda: _state(on, job) == "Done")
        folder, hand = tmp_path / "my & results", Clicks()
        folder.mkdir()
        await hand.job(on, job)
        await hand.button(_inspector(on), "Fetch output")
        dialog = await eventually(lambda: on.window.findChild(QFileDialog), what="it asks the first time")
        field = dialog.findChild(QLineEdit)
        await eventually(lambda: field.text() and field.hasFocus(), 20, "it offers a folder")
        field.selectAll()  # what it offers goes with the first letter
        hand.type(field, str(folder))
        await eventually(lambda: field.text() == str(folder), 20, field.text)
        hand.press(field, Qt.Key.Key_Return)
        await eventually(lambda: _saved(folder) == 1, 30)
        hand = Clicks()
        await hand.button(_inspector(on), "Fetch to my && results")
        await eventually(lambda: _saved(folder) == 2)
        assert hand.count == 1

    play(qapp, broker, scenario)


def _saved(folder: Path) -> int:
    return sum(path.read_text() == "42\n" for path in folder.rglob("out.txt"))


def test_a_terminal_in_a_running_job_opens_with_one_double_click(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        explore = sample("explore")
        prepared = await prepare(explore.jdl, explore.folder)
        [job] = (await on.context.client.submit_prepared(prepared)).ids
        await eventually(lambda: _state(on, job) == "Running")
        hand = Clicks()
        await hand.job(on, job, "twice")
        page = on.window.tabs.currentWidget()
        assert isinstance(page, Inspector)
        pane = page.panes["console"]
        assert isinstance(pane, ConsolePane)
        await eventually(lambda: pane.views, what="the console opens")
        (view,) = pane.views.values()
        screen = view.terminal.terminal.text
        await eventually(lambda: "explore>" in screen(), what="the prompt is shown")
        assert on.window.focusWidget() is view.terminal
        assert hand.count == 1
        for word, answer in (("size", "columns"), ("quit", "Goodbye.")):
            hand.type(view.terminal, word + "\r")
            await eventually(lambda answer=answer: answer in screen(), what=answer)
        assert view.terminal.terminal.size[0] >= 80
        await eventually(lambda: on.ended(job))

    play(qapp, broker, scenario)
