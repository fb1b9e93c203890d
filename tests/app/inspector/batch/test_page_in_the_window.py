"""The page of a batch in a real window, before a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.inspector.batch.numbers import NumberSource
from app.inspector.batch.page import BatchPage
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.jobs.rows import NOW, columns
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

_TEXT = """
Executable = "/bin/sh";
Arguments = "-c 'echo energy = _PARAM_.5; echo value,square > table.csv; echo 1,_PARAM_0 >> table.csv; test _PARAM_ -gt 1 || { echo rate _PARAM_ is too small >&2; exit 3; }'";
StdOutput = "out.txt"; StdError = "err.txt"; OutputSandbox = {"out.txt", "err.txt", "table.csv"};
JobName = "scan-_PARAM_";
"""  # noqa: E501


async def _page(on: Stage) -> BatchPage:
    """Run five jobs of which two fail, and open the page of their batch by a double click with Ctrl."""
    await on.ready()
    item = SubmissionItem(description=_TEXT, values=["0", "1", "2", "3", "4"])
    await on.context.client.submit(Submission(key="five-of-which-two-fail", items=[item]))
    rows, view = on.context.jobs, on.window.jobs.view
    await eventually(lambda: len(rows) == 5 and all(on.ended(job) for job in rows.at), 90)
    await eventually(
        lambda: view.table.rowCount() == 1 and not view.visualRect(view.table.index(0, 1)).isEmpty()
    )
    await eventually(lambda: view.table.text(0, 0) == "3 of 5 done · 2 failed")
    at = view.visualRect(view.table.index(0, 1)).center()
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, at)
    page = await eventually(lambda: on.window.findChild(BatchPage), what="a page")
    QTest.mouseClick(page, Qt.MouseButton.LeftButton)  # without Ctrl, which Qt takes for held until then
    await eventually(lambda: page.summary.text() == "3 of 5 done · 2 failed")
    return page


@pytest.mark.expected_log(r"\d+ failed")
def test_a_batch_opens_as_a_page_with_failures_by_reason_that_are_shown_and_run_again(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        page = await _page(on)
        assert on.window.tabs.currentWidget() is page
        assert on.window.tabs.tabText(on.window.tabs.currentIndex()) == "scan"
        overview = page.overview.pane
        await eventually(lambda: overview.plot is not None and overview.plot.isVisible())
        (group,) = overview.failures.groups
        assert (group.reason, group.cause, len(group.jobs)) == ("rate … is too small", "exit 3", 2)
        overview.show_these.click()
        view = on.window.jobs.view
        await eventually(lambda: set(view.chosen()) == set(group.jobs))
        on.context.show_batch(page.batch)
        assert on.window.tabs.currentWidget() is page, "it is the same page again"
        overview.rerun_these.click()
        await eventually(lambda: len(on.context.jobs) == 7, 90)
        await eventually(
            lambda: not set(group.jobs) & set(page.ids), what="the last runs stand for their jobs"
        )
        assert len(page.ids) == 5
        await eventually(lambda: page.summary.text() == "3 of 5 done · 2 failed", 90)

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_numbers_of_the_outputs_are_drawn_against_the_values(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        page = await _page(on)
        page.tabs.setCurrentWidget(page.plot.widget)
        pane = page.plot.pane
        await eventually(lambda: pane.file.findText("table.csv") >= 0)
        assert pane.file.currentText() == "table.csv", "tables come first"
        await eventually(lambda: pane.what.text() == "square", what="the last column with numbers is offered")
        assert pane.source.currentData() == NumberSource.COLUMN
        assert pane.what.completer().model().rowCount() == len(pane.names)
        QTest.mouseClick(pane.go, Qt.MouseButton.LeftButton)
        await eventually(lambda: sorted(pane.found.numbers.values()) == [20.0, 30.0, 40.0])
        await eventually(lambda: pane.plot is not None and pane.plot.isVisible())
        assert pane.note.text() == "3 numbers of 3 jobs."
        pane.file.setCurrentText("out.txt")
        pane.source.setCurrentIndex(pane.source.findData(NumberSource.PATTERN))
        pane.what.setText(r"energy = ([\d.]+)")
        pane.start()
        await eventually(lambda: sorted(pane.found.numbers.values()) == [2.5, 3.5, 4.5])
        pane.what.setText("nothing of that (.)")
        pane.start()
        await eventually(lambda: "3 jobs have none: The expression matches nothing." in pane.note.text())
        assert not pane.plot.isVisible()

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_logs_of_chosen_values_stand_side_by_side_and_all_output_is_one_tree(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        page = await _page(on)
        await eventually(lambda: page.overview.made, what="what is in front")
        assert not any(tab.made for tab in (page.values, page.plot, page.logs, page.outputs))
        page.tabs.setCurrentWidget(page.values.widget)
        view = page.values.made.view
        await eventually(lambda: view.model().rowCount() == 5)
        view.selectRow(0)
        QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
        assert page.logs.made is None, "nobody has looked yet"
        page.tabs.setCurrentWidget(page.logs.widget)
        await turns()
        first, second = page.logs.made.panes
        assert first.isVisible()
        assert second.isVisible()
        await eventually(lambda: first.files and second.files, what="logs")
        page.tabs.setCurrentWidget(page.outputs.widget)
        tree = page.outputs.made.tree
        await eventually(lambda: tree.topLevelItemCount() == 5)
        await eventually(lambda: page.outputs.made.fetch.isEnabled())
        assert page.outputs.made.fetch.text() == "Fetch 5 jobs…"
        item = tree.topLevelItem(0)
        item.setExpanded(True)
        await eventually(lambda: item.childCount() == 3)
        assert {item.child(at).text(0) for at in range(3)} == {"out.txt", "err.txt", "table.csv"}
        assert [one.text() for one in tree.actions()] == ["Export files as CSV…"]
        written = await page.outputs.made.gather()
        assert written.header == ["value", "job", "state", "path", "bytes", "problem"]
        rows = list(written.rows)
        assert len({row[1] for row in rows}) == 5, "those too that are not unfolded"
        assert {row[3] for row in rows if row[0] == item.text(0)} == {"out.txt", "err.txt", "table.csv"}
        assert all(isinstance(row[4], int) and row[5] == "" for row in rows)

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_logs_begin_with_a_job_that_failed_beside_one_that_is_done(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        page = await _page(on)
        page.tabs.setCurrentWidget(page.logs.widget)
        await eventually(lambda: page.logs.made is not None and len(page.logs.made.jobs) == 2, what="logs")
        rows = on.context.jobs
        codes = [rows.columns["exit_code"][rows.at[job]] for job in page.logs.made.jobs]
        assert codes == [3, 0]

    play(qapp, broker, scenario)


def test_a_batch_whose_jobs_were_removed_says_so(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        jobs = on.context.jobs
        jobs.merge(columns(*({"id": f"j{n}", "batch": "b", "name": "x", "submitted": NOW} for n in range(3))))
        jobs.flush()
        on.context.show_batch("b")
        page = on.window.findChild(BatchPage)
        await eventually(lambda: page.title.text() == "x  ·  3 jobs")
        jobs.drop(["j0", "j1", "j2"])
        jobs.flush()
        await eventually(page.gone.isVisible)
        assert not page.tabs.isVisible()
        on.window.tabs.close_page(page)
        assert on.window.tabs.currentWidget() is on.window.jobs

    play(qapp, state_dir, scenario, connect=False)
