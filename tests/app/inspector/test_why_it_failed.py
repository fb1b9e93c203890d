"""Why a job failed stands in the head of the inspector and in the table, and its log opens at the error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.inspector.header import why_failed
from app.inspector.inspector import Inspector
from app.inspector.logs.pane import LogsPane
from app.jobs.columns import BY_NAME
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.inspector.recorded import JOB, TO_FAILED, TestContext, row, story
from tests.app.windows import Stage, play
from tests.waiting import eventually

Until = Callable[..., Any]
LINE = "calibration.dat is not here; add it to InputSandbox"
SCRIPT = r"""[
  Executable = "/bin/sh";
  Arguments = "-c 'echo checking; echo fine >&2; echo error: no map >&2; exit 7'";
  StdOutput = "out.txt";
  StdError = "err.txt";
  OutputSandbox = {"out.txt", "err.txt"};
]
"""


def failed(context: TestContext, out: bytes = b"checking\n", err: bytes = b"", **more: Any) -> None:
    for name, text in (("out.txt", out), ("err.txt", err)):
        (context.client.folder / name).write_bytes(text)
    usual = {"exit_code": 7, "ended": row("Done")["started"] + 5}
    context.put(row("Done", **(usual | more)), story(*TO_FAILED))


@pytest.fixture
def pane(qtbot: QtBot, context: TestContext) -> LogsPane:
    made = LogsPane(context)
    qtbot.addWidget(made)
    made.resize(420, 300)
    made.show()
    return made


@pytest.fixture
def inspector(qtbot: QtBot, context: TestContext) -> Inspector:
    made = Inspector(context)
    qtbot.addWidget(made)
    made.resize(360, 620)
    made.show()
    return made


def test_the_reason_stands_above_every_tab(
    context: TestContext, inspector: Inspector, turn: Callable[[], None]
) -> None:
    failed(context, error_line=LINE)
    inspector.show_jobs([JOB])
    for name in ("story", "logs", "output", "where", "text"):
        inspector.show_tab(name)
        turn()
        assert inspector.header.why.isVisible()
        assert inspector.header.why.text() == f"Exit 7 · {LINE}"
    context.put(row("Done", exit_code=0, position=50), story(*TO_FAILED))
    assert inspector.header.why.isHidden()


def test_a_long_reason_never_widens_the_inspector(context: TestContext, inspector: Inspector) -> None:
    failed(context, error_line="/very/long" * 19)
    inspector.show_jobs([JOB])
    QApplication.processEvents()
    assert inspector.width() == 360
    assert inspector.header.why.height() >= inspector.header.why.heightForWidth(inspector.header.why.width())
    assert inspector.header.why.height() > 2 * inspector.fontMetrics().height()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (row("Done", exit_code=127), "Exit 127: the program was not found"),
        (row("Done", exit_code=7), "The application reported a failure (exit 7)"),
        (row("Aborted", signal=9, reason="Ended by signal 9 (SIGKILL)"), "Ended by signal 9 (SIGKILL)"),
        (row("Aborted", reason="Retries are used up"), "Retries are used up"),
        (row("Running"), ""),
    ],
)
def test_a_job_that_wrote_no_error_says_what_is_known(told: dict[str, Any], words: str) -> None:
    assert why_failed(told) == words


def test_the_log_of_a_failed_job_opens_at_the_first_error(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    failed(context, err=b"fine\n" * 500 + b"Traceback (most recent call last):\n" + b"later\n" * 500)
    pane.show_job(JOB)
    until(lambda: "Traceback" in pane.view.visible_text())
    assert pane.chooser.bar.tabText(pane.chooser.bar.currentIndex()).startswith("stderr")
    assert pane.finder.isHidden()
    assert not pane.follow.isChecked()


def test_the_end_is_shown_where_no_line_looks_like_an_error(
    context: TestContext, pane: LogsPane, until: Until
) -> None:
    failed(context, err=b"one more\n" * 300 + b"the last words\n")
    pane.show_job(JOB)
    until(lambda: "the last words" in pane.view.visible_text())


def test_streams_are_tabs_and_other_files_stand_behind_more(
    context: TestContext, pane: LogsPane, until: Until, qtbot: QtBot
) -> None:
    (context.client.folder / "a & b.csv").write_text("x,y\n")
    failed(context, err=b"warning\n", exit_code=0)
    pane.show_job(JOB)
    until(lambda: "checking" in pane.view.visible_text())
    assert pane.chooser.titles() == ["stdout  9 B", "stderr  8 B"]
    pane.chooser.bar.setFocus()
    qtbot.keyClick(pane.chooser.bar, Qt.Key.Key_Right)
    until(lambda: "warning" in pane.view.visible_text())
    menu = pane.chooser.more.menu()
    menu.aboutToShow.emit()
    (act,) = menu.actions()
    assert act.text().startswith("a && b.csv")
    act.trigger()
    until(lambda: "x,y" in pane.view.visible_text())
    assert pane.chooser.titles()[-1] == "a && b.csv  4 B"
    assert pane.chooser.more.isHidden()


def test_long_lines_are_wrapped_and_the_choice_is_remembered(
    context: TestContext, pane: LogsPane, until: Until, qtbot: QtBot
) -> None:
    failed(context, b"word " * 200 + b"end\n", exit_code=0)
    pane.show_job(JOB)
    until(lambda: "end" in pane.view.visible_text())
    assert pane.view.horizontalScrollBar().maximum() == 0
    pane.wrap.click()
    assert context.preferences["wrap_logs"] is False
    other = LogsPane(context)
    qtbot.addWidget(other)
    assert not other.view.wrap


def test_a_real_job_says_why_in_table_and_header(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        item = SubmissionItem(description=SCRIPT, name="check")
        [job] = (await on.context.client.submit(Submission(key="fails-in-a-test", items=[item]))).ids
        await eventually(lambda: on.ended(job))
        await eventually(lambda: on.window.jobs.view.choose(job))
        assert on.window.inspector is not None
        header = on.window.inspector.header
        await eventually(header.why.isVisible)
        assert header.why.text() == "Exit 7 · error: no map"
        table = on.window.jobs.table
        tips = {
            table.data(table.index(0, BY_NAME[name]), Qt.ItemDataRole.ToolTipRole)
            for name in ("state", "name")
        }
        assert tips == {header.why.text(), f"check\n{header.why.text()}"}
        logs: Any = on.window.inspector.panes["logs"]
        on.window.inspector.show_tab("logs")
        await eventually(lambda: "error: no map" in logs.view.visible_text())

    play(qapp, broker, scenario)
