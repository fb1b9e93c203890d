"""Replays side by side: figures with their differences, and curves over each other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.simulation.comparison import MOST_COMPARED, MOST_RUNS, change
from app.simulation.page import SimulationPage
from app.simulation.replay_store import ReplayStore
from app.theme.tokens import Mode
from tests.app.pictures import PICTURES
from tests.app.simulation.bare_context import COMPUTED, BareContext

Until = Callable[..., Any]


@pytest.fixture
def page(qapp: QApplication, loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[SimulationPage]:
    made = SimulationPage(BareContext(qapp, loop, tmp_path / "state"))
    made.resize(1000, 900)
    made.show()
    yield made
    made.close()
    made.deleteLater()


def result(
    policy: str = "best-fit", wait: float = 100.0, used: float = 0.5, trace: str = "made"
) -> dict[str, Any]:
    """A result such as the command line writes."""
    spread = {"mean": wait, "median": wait / 2, "p95": wait * 3, "most": wait * 9}
    summary = {
        "wait": spread, "slowdown": spread, "bounded_slowdown": spread, "utilization": used,
        "makespan": 7200.0, "jobs": 10, "finished": 10, "given_up": 0, "cpus": 20, "sites": 1,
    }  # fmt: skip
    curves = {
        "time": [0.0, 3600.0, 7200.0], "utilization": [0.0, used, used], "average": [0.0, used, used],
        "queue": [0.0, wait, 0.0], "wait_bounds": [60, -1], "wait_counts": [4, 6],
    }  # fmt: skip
    sites = [{"site": "a", "cpus": 20, "jobs": 10, "utilization": used}]
    said = {"trace": trace, "policy": policy, "queue": "fcfs", "took": 0.1, "left_out": 0, "acknowledge": ""}
    return {**said, "summary": summary, "sites": sites, "curves": curves}


def tick(page: SimulationPage, row: int, on: bool = True) -> None:
    page.runs.item(row, 0).setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)


@pytest.mark.parametrize(
    ("base", "other", "said"),
    [(100, 88, "−12 %"), (100, 103.4, "+3.4 %"), (100, 100.01, "same"), (0, 0, "same"), (0, 5, "more")],
)
def test_a_difference_is_told_in_percent_of_the_first(base: float, other: float, said: str) -> None:
    assert change(base, other) == said


def test_the_newest_replay_is_shown_and_those_before_it_stay(page: SimulationPage) -> None:
    for number in range(MOST_RUNS + 2):
        page.child.told.emit({"result": result(wait=number + 1.0)})
    assert [run.number for run in page.runs.runs] == list(range(MOST_RUNS + 2, 2, -1))
    assert [run.number for run in page.runs.ticked()] == [MOST_RUNS + 2]
    assert page.figures.shown["mean wait"] == "14 s"
    assert page.comparison.isHidden()


def test_two_replays_stand_side_by_side_with_one_legend(page: SimulationPage) -> None:
    page.child.told.emit({"result": result("best-fit", wait=100.0, used=0.5)})
    page.child.told.emit({"result": result("worst-fit", wait=80.0, used=0.5)})
    tick(page, 1)
    assert page.figures.isHidden()
    table = page.comparison.table
    heads = [table.horizontalHeaderItem(at).text() for at in range(table.columnCount())]
    assert heads == ["", "Replay 1", "Replay 2"]
    cells = {table.item(row, 0).text(): table.item(row, 2).text() for row in range(table.rowCount())}
    assert cells["Mean wait"] == "1 m 20 s   −20 %"
    assert cells["CPUs in use"] == "50.0%   same"
    better = table.item(0, 2).foreground().color()
    assert better == page._context.theme.color("positive")
    assert page.comparison.legend.text().count("■") == 2
    assert "Worst fit" in page.comparison.legend.text()
    curves = page._plots.queue.plot.listDataItems()
    assert [max(curve.getData()[1]) for curve in curves] == [100.0, 80.0]
    assert "■" not in page._plots.queue.said.text()
    assert "All replayed 10 jobs of made" in page.comparison.note.text()
    QApplication.processEvents()
    for mode in (Mode.LIGHT, Mode.DARK, Mode.CONTRAST):
        page._context.theme.wear(mode=mode)
        assert page.grab().save(str(PICTURES / f"simulator-comparison-{mode.value}.png"))


def test_replays_of_other_jobs_are_compared_with_a_word_about_it(page: SimulationPage) -> None:
    page.child.told.emit({"result": result()})
    page.child.told.emit({"result": result(trace="other")})
    tick(page, 1)
    assert "differ in more than their policies" in page.comparison.note.text()
    assert "2 replayed 10 jobs of other" in page.comparison.note.text()


def test_the_last_tick_stays_and_no_more_are_ticked_than_can_be_told_apart(page: SimulationPage) -> None:
    for _ in range(MOST_COMPARED + 1):
        page.child.told.emit({"result": result()})
    tick(page, 0, on=False)
    assert [run.number for run in page.runs.ticked()] == [MOST_COMPARED + 1]
    for row in range(1, MOST_COMPARED + 1):
        tick(page, row)
    assert len(page.runs.ticked()) == MOST_COMPARED
    assert not page.runs.item(MOST_COMPARED, 0).checkState().value


def test_a_replay_is_ticked_by_the_keyboard(page: SimulationPage) -> None:
    for _ in range(2):
        page.child.told.emit({"result": result()})
    page.runs.setCurrentCell(1, 0)
    page.runs.setFocus()
    QTest.keyClick(page.runs, Qt.Key.Key_Space)
    assert len(page.runs.ticked()) == 2


def test_another_policy_is_replayed_and_compared(page: SimulationPage, until: Until, tmp_path: Path) -> None:
    sites = tmp_path / "sites.toml"
    sites.write_text('[[sites]]\nname = "north"\ncpus = 900\n[[sites]]\nname = "south"\ncpus = 300\n')
    trace = tmp_path / "short.swf"
    trace.write_text("".join(f"{n} {n} -1 600 9 -1 -1 9 -1 -1 1 1 1 -1 -1 1 -1 -1\n" for n in range(1, 2000)))
    page.form.trace.choose(trace)
    page.form.sites.choose(sites)
    until(lambda: page.form.order.count())
    for number, policy in enumerate(("best-fit", "worst-fit"), 1):
        page.form.order.setCurrentIndex(page.form.order.findData(policy))
        page.form.button.click()
        until(lambda number=number: len(page.runs.runs) == number and not page.child.running, COMPUTED)
    tick(page, 1)
    assert [run.result["policy"] for run in page.runs.ticked()] == ["best-fit", "worst-fit"]
    assert page.comparison.isVisible()


def test_replays_are_there_again_after_a_restart_of_the_desktop(
    page: SimulationPage, until: Until, qapp: QApplication, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    for wait in (100.0, 50.0):
        page.runs.add(result(wait=wait))
    file = tmp_path / "state" / "replays.json"
    until(lambda: file.exists() and len(json.loads(file.read_text())) == 2)
    again = SimulationPage(BareContext(qapp, loop, tmp_path / "state"))
    again.show()
    until(lambda: [run.number for run in again.runs.runs] == [2, 1])
    assert again.runs.runs == page.runs.runs
    assert again.figures.isVisible(), "the newest is shown"
    again.runs.add(result(wait=10.0))
    assert [run.number for run in again.runs.runs] == [3, 2, 1]
    until(lambda: len(json.loads(file.read_text())) == 3)
    again.close()
    again.deleteLater()


@pytest.mark.expected_log("Earlier replays in .* cannot be read")
@pytest.mark.parametrize("content", ["{", '[{"number": 1}]', "7"])
def test_a_file_of_replays_that_is_damaged_is_left_aside(tmp_path: Path, content: str) -> None:
    file = tmp_path / "replays.json"
    file.write_text(content)
    assert asyncio.run(ReplayStore(file).load()) == []
    assert file.read_text() == content
