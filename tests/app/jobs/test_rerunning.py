"""Failed jobs of a batch run again in their place: the batch keeps its line and its total."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

from app.jobs.rerun_sheet import RerunSheet
from app.stores.jobs import JobStore
from broker_core.jobs.query import parse
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.jobs.rows import NOW, columns
from tests.app.windows import Stage, play
from tests.waiting import eventually

_TEXT = """
Executable = "/bin/sh"; Arguments = "-c 'test -e FLAG || test _PARAM_ -gt 1'"; JobName = "scan-_PARAM_";
"""


async def _submitted(on: Stage, flag: Path) -> None:
    """Four jobs, of which 0 and 1 fail as long as there is no file of that name; the batch is selected."""
    await on.ready()
    item = SubmissionItem(description=_TEXT.replace("FLAG", str(flag)), values=["0", "1", "2", "3"])
    await on.context.client.submit(Submission(key="four-of-which-two-fail", items=[item]))
    rows, view = on.context.jobs, on.window.jobs.view
    await eventually(lambda: len(rows) == 4 and all(on.ended(job) for job in rows.at), 90)
    await eventually(lambda: _line(on)[0] == "2 of 4 done · 2 failed")
    assert view.choose_all(list(rows.at))
    assert len(view.chosen()) == 4


def _line(on: Stage) -> tuple[str, str]:
    table = on.window.jobs.table
    return (table.text(0, 0), table.text(0, 1)) if table.rowCount() else ("", "")


def _buttons(on: Stage) -> Iterable[QPushButton]:
    return on.window.inspector.multi_selection.offers.buttons.values()


def _button(on: Stage, text: str) -> QPushButton:
    return next(button for button in _buttons(on) if button.text() == text)


@pytest.mark.expected_log(r"\d+ failed|ended: .* failed")
def test_two_clicks_run_what_failed_again_and_the_batch_counts_the_last_runs(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        flag = tmp_path / "flag"
        await _submitted(on, flag)
        flag.touch()
        QTest.mouseClick(_button(on, "Rerun 2 failed"), Qt.MouseButton.LeftButton)
        await eventually(lambda: _line(on) == ("4 of 4 done", "scan  ·  4 jobs"), 90)
        assert len(on.context.jobs) == 6
        assert on.window.jobs.table.rowCount() == 1
        assert on.window.jobs.bar.count.text() == "4 jobs"
        await eventually(lambda: on.context.counts.of("state:failed failed:today") == 0)
        await eventually(lambda: not on.context.actions.qt("job.rerun").isEnabled())
        assert len(on.window.jobs.view.chosen()) == 4
        texts = [button.text() for button in _buttons(on) if button.isVisible()]
        assert texts == ["Fetch 4…", "Open batch", "Resubmit 4", "Remove 4 with files…"]
        on.context.trigger("job.purge")
        box = await eventually(lambda: on.window.findChild(QMessageBox), what="a question")
        assert "2 earlier runs of them will be removed too" in box.informativeText()
        next(one for one in box.buttons() if one.text() == "Remove 4 jobs").click()
        await eventually(lambda: not len(on.context.jobs), what="no run comes back as a job")

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed|ended: .* failed")
def test_changes_asked_for_in_the_sheet_hold_for_the_new_runs_only(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await _submitted(on, tmp_path / "never")
        before = set(on.context.jobs.at)
        on.context.trigger("job.rerun_changed")
        sheet = await eventually(lambda: on.window.findChild(RerunSheet), what="a sheet")
        assert sheet.go.text() == "Rerun 2 jobs"
        sheet.arguments.setText("-c 'exit 0' _PARAM_")
        sheet.memory.setText("1M")
        sheet.time.setText("10m")
        sheet.site.setCurrentText("Wherever they fit")
        QTest.keyClick(sheet.time, Qt.Key.Key_Return)
        await eventually(lambda: _line(on) == ("4 of 4 done", "scan  ·  4 jobs"), 90)
        new = set(on.context.jobs.at) - before
        assert len(new) == 2
        for job in new:
            text = (await on.context.client.job(job)).description
            assert "exit 0" in text
            assert '"10m"' in text
            assert "MemoryPerNode = 1;" in text

    play(qapp, broker, scenario)


def _run(id: str, code: int, repeats: str = "", **more: object) -> dict[str, object]:
    return {"id": id, "batch": "b", "name": "x", "state": "Done", "exit_code": code, "submitted": NOW,
            "rerun_of": repeats} | more  # fmt: skip


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
def test_the_last_run_counts_in_whatever_order_rows_come_and_the_one_before_it_when_it_is_removed(
    order: list[str],
) -> None:
    rows = JobStore()
    runs = {"a": _run("a", 3), "b": _run("b", 3, "a"), "c": _run("c", 0, "b")}
    for job in order:
        rows.merge(columns(runs[job]))
    counting = [rows.columns["id"][at] for at in rows.counting(rows.at.values())]
    assert counting == ["c"]
    assert rows.shown == 1
    rows.drop(["c"])
    assert [rows.columns["id"][at] for at in rows.counting(rows.at.values())] == ["b"]


@pytest.mark.parametrize("gone", [["b"], ["b", "c"], ["c", "b"]])
def test_a_job_counts_once_when_runs_in_the_middle_are_removed(gone: list[str]) -> None:
    rows = JobStore()
    chain = [_run("a", 3), _run("b", 3, "a"), _run("c", 3, "b"), _run("d", 0, "c")]
    rows.merge(columns(*chain))
    rows.drop(gone)
    rows.merge(columns(_run("d", 0, "c", position=9)))  # as a broker tells it that did not read it anew
    assert [rows.columns["id"][at] for at in rows.counting(rows.at.values())] == ["d"]
    assert rows.shown == 1
    rows.drop(["d"])
    assert rows.shown == 1


def test_a_single_job_that_was_run_again_stays_in_the_list() -> None:
    rows = JobStore()
    rows.merge(columns(_run("a", 3, batch=""), _run("b", 0, "a", batch="")))
    assert parse("").select(rows.columns, rows.counting(rows.numbers()), NOW) == [0, 1]
