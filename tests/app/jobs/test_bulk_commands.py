"""What is offered for several jobs says to how many of them it applies, and many are asked about first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox

from app.stores.slices import SLICE
from broker_core.jobs.outcome import Outcome
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.jobs.rows import NOW, columns
from tests.app.windows import Stage, outside, play, turns
from tests.waiting import eventually


def _batch() -> list[dict[str, Any]]:
    """40 jobs: 4 over and well, 8 failed, 28 that wait."""
    ends = [("Done", 0)] * 4 + [("Done", 3)] * 8 + [("Waiting", None)] * 28
    return [
        {"id": f"m{at:02d}", "batch": "b", "name": f"fit-{at}", "parameter": f"{at}", "state": state,
         "exit_code": code, "submitted": NOW - at}
        for at, (state, code) in enumerate(ends)
    ]  # fmt: skip


async def _select(on: Stage, jobs: Sequence[dict[str, Any]], batch: str = "b") -> None:
    on.context.jobs.merge(columns(*jobs))
    on.context.jobs.flush()
    view = on.window.jobs.view
    await eventually(lambda: view.table.view.line_of_batch(batch) >= 0)
    assert view.choose_all([job["id"] for job in jobs if job.get("batch") == batch])
    await turns()


def _menu(on: Stage) -> list[str]:
    view = on.window.jobs.view
    view.customContextMenuRequested.emit(view.visualRect(view.currentIndex()).center())
    menu = on.window.jobs.findChildren(QMenu)[-1]
    texts = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
    menu.close()
    return texts


def test_inspector_menu_and_palette_say_to_how_many_jobs_of_a_batch_each_applies(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await _select(on, _batch())
        offered = on.window.inspector.multi_selection.offers.buttons.values()
        assert [button.text() for button in offered if button.isVisible()] == [
            "Cancel 28…", "Rerun 8 failed", "Rerun 8 failed with changes…", "Fetch 12…", "Open batch",
            "Resubmit 40", "Remove 12 with files…",
        ]  # fmt: skip
        menu = _menu(on)
        assert {"Cancel 28…", "Rerun 8 failed", "Fetch 12…", "Hold 28", "Open batch"} <= set(menu)
        assert not {"Show console", "Release", "Show logs", "Run elsewhere…"} & set(menu)
        on.context.actions.link(True)
        titles = [find.title for find in on.window.handlers.finder.find("rerun")]
        assert titles[0] == "Rerun 8 failed"
        assert on.context.actions.qt("job.rerun").text() == "Rerun 8 failed"

    play(qapp, state_dir, scenario, connect=False)


def test_very_many_selected_jobs_are_summed_up_in_slices_and_again_as_they_change(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        jobs = [{"id": f"m{n}", "batch": "many", "name": "m", "submitted": NOW} for n in range(SLICE + 10)]
        on.context.jobs.merge(columns(*jobs))
        on.context.jobs.flush()
        view, summary = on.window.jobs.view, on.window.inspector.multi_selection
        await eventually(lambda: view.table.view.line_of_batch("many") >= 0)
        view.choose_all([job["id"] for job in jobs])
        assert summary.title.text() == f"{len(jobs):,} jobs selected"
        assert not summary.counts, "they are not counted in one go"
        await eventually(lambda: sum(summary.counts.values()) == len(jobs))
        on.context.jobs.merge(columns({**jobs[0], "state": "Done", "exit_code": 3, "position": 9}))
        on.context.jobs.flush()
        await eventually(lambda: summary.counts.get(Outcome.FAILED) == 1)
        assert "1 failed" in summary.about.text()
        await eventually(lambda: on.context.actions.qt("job.rerun").text() == "Rerun 1 failed")

    play(qapp, state_dir, scenario, connect=False)


def test_a_selection_tells_why_its_jobs_failed_and_a_job_its_value(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        jobs = [
            job | {"name": "fit", "error_line": f"no convergence for value {job['parameter']}"}
            if job["exit_code"] else job | {"name": "fit"}
            for job in _batch()
        ]  # fmt: skip
        await _select(on, jobs)
        failures = on.window.inspector.multi_selection.failures
        assert failures.isVisible()
        assert failures.reasons == ["8 × exit 3  ·  no convergence for value …"]
        on.window.jobs.view.choose("m05")
        await turns()
        header = on.window.inspector.header
        assert header.name.text() == "fit (5)", "jobs of a batch are told apart by their values"
        await _select(on, [jobs[0], jobs[1]])
        assert not failures.isVisible()

    play(qapp, state_dir, scenario, connect=False)


def test_buttons_stand_still_under_the_pointer_while_jobs_change(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        jobs = _batch()
        await _select(on, jobs)
        offers = on.window.inspector.multi_selection.offers
        on.context.actions.link(True)
        offers.setEnabled(True)
        cancel = offers.buttons["job.cancel"]
        places = {name: one.geometry() for name, one in offers.buttons.items() if one.isVisible()}
        await outside(lambda: QTest.mouseMove(cancel))
        await eventually(offers.underMouse, what="the pointer is over the buttons")
        over = [
            job | {"state": "Done", "exit_code": 0, "position": 9} for job in jobs if job["exit_code"] is None
        ]
        on.context.jobs.merge(columns(*over))
        on.context.jobs.flush()
        await eventually(lambda: not cancel.isEnabled(), what="nothing is left to be canceled")
        await turns()
        now = {name: one.geometry() for name, one in offers.buttons.items() if one.isVisible()}
        assert now == places, "no button came to where another one was"
        title = on.window.inspector.multi_selection.title
        await outside(lambda: QTest.mouseMove(title))
        await eventually(lambda: not cancel.isVisible(), what="the pointer left and the buttons follow")
        assert offers.buttons["job.purge"].text() == "Remove 40 with files…"

    play(qapp, state_dir, scenario, connect=False)


def test_a_batch_job_has_no_console_in_its_menu(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.context.jobs.merge(columns({"id": "a", "state": "Done", "exit_code": 0}))
        on.context.jobs.flush()
        await eventually(lambda: on.window.jobs.view.choose("a"))
        menu = _menu(on)
        assert "Show logs" in menu
        assert "Fetch output…" in menu
        assert not {"Show console", "Queue as batch job", "Rerun", "Open batch"} & set(menu)

    play(qapp, state_dir, scenario, connect=False)


async def _question(on: Stage) -> QMessageBox:
    return await eventually(lambda: on.window.findChild(QMessageBox), what="a question")


def test_a_command_for_more_than_ten_jobs_asks_first(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        text = 'Executable = "/bin/true"; Arguments = "_PARAM_"; JobName = "fit-_PARAM_";'
        values = [str(number) for number in range(11)]
        item = SubmissionItem(description=text, values=values)
        await on.context.client.submit(Submission(key="eleven-jobs-in-one-batch", items=[item], hold="test"))
        rows, view = on.context.jobs, on.window.jobs.view
        await eventually(lambda: len(rows) == 11 and view.table.rowCount() == 1)
        assert view.choose_all(list(rows.at))
        assert len(view.chosen()) == 11
        on.context.trigger("job.resubmit")
        box = await _question(on)
        assert box.text() == "Resubmit 11 jobs?"
        next(button for button in box.buttons() if button.text() == "Resubmit 11 jobs").click()
        await eventually(lambda: len(rows) == 22)

    play(qapp, broker, scenario)


def test_names_of_actions_are_those_for_one_job_again_when_one_is_selected(
    qapp: QApplication, state_dir: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await _select(on, [*_batch(), {"id": "one", "state": "Done", "exit_code": 7}])
        action: QAction = on.context.actions.qt("job.cancel")
        assert action.text() == "Cancel 28…"
        assert on.window.jobs.view.choose("one")
        await turns()
        assert action.text() == "Cancel…"
        assert on.context.actions.qt("job.rerun").text() == "Rerun"
        assert action.isEnabled() is False

    play(qapp, state_dir, scenario, connect=False)
