"""The scheduler view: queue with reasons, policies, decisions as they come, and its states without data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.scheduler.decisions import KEPT, DecisionTable
from app.scheduler.pane import SchedulerPane
from app.scheduler.queue import REASON, STATE
from app.stores.link import ConnectionState
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.errors import CrossDeskError
from broker_core.wire.queue import PolicyView
from tests.app.inspector.recorded import TestContext
from tests.app.scheduler.made_up import SchedulerBroker, decision

Show = Callable[..., SchedulerPane]


@pytest.fixture
def show(loop: asyncio.AbstractEventLoop, qapp: QApplication, qtbot: QtBot, until: Any) -> Show:
    """Show the view of a queue of a length, after a number of decisions."""

    def make(waiting: int, decided: int = 20) -> SchedulerPane:
        pane = SchedulerPane(TestContext(Theme(qapp, Mode.LIGHT), SchedulerBroker(waiting, decided)))
        qtbot.addWidget(pane)
        pane.resize(1000, 760)
        pane.show()
        until(lambda: pane.seen is not None and not pane._refresh.under_way)
        return pane

    return make


def test_each_waiting_job_has_its_place_and_its_reason(show: Show) -> None:
    pane = show(10)
    assert pane.headline.text() == "10 jobs of yours wait, 22 of all users"
    model = pane.queue
    assert [model.index(row, 0).data() for row in range(3)] == ["1", "2", "3"]
    assert model.index(0, REASON).data() == "4 sites match, but none has 16 free CPUs now."
    assert model.index(2, STATE).data() == "Nowhere to run"
    assert model.blocking(1) == "job-1"
    assert pane.next.text().startswith("Next round in ")


def test_return_opens_the_story_of_a_waiting_job(show: Show) -> None:
    pane = show(10)
    pane.queue_view.opened.emit(4)
    assert pane._context.opened == ["job-4 story"]


def test_policies_are_chosen_and_one_that_does_not_load_says_why(show: Show, until: Any) -> None:
    pane = show(10)
    box = pane.policy.boxes["order"]
    assert [box.itemText(row) for row in range(4)] == [
        "Best fit", "Worst fit", "Mine (yours)", "Broken (cannot be loaded)"
    ]  # fmt: skip
    assert not box.model().item(3).isEnabled()
    assert pane.policy.errors.text().endswith("broken.py: line 3: invalid syntax")
    assert pane.policy.docs["order"].text().startswith("Near data first")
    box.activated.emit(1)
    until(lambda: pane._context.client.chosen == [{"order": "worst-fit", "queue": ""}])
    pane.policy.boxes["queue"].activated.emit(1)
    until(lambda: pane._context.client.chosen[1:] == [{"order": "", "queue": "bounded-backfill"}])


def test_a_policy_in_force_that_failed_says_so(show: Show) -> None:
    chooser = show(10).policy
    why = "it failed last time, the built-in order counted: ValueError: no order today"
    mine = PolicyView(name="mine", kind="order", origin="/home/me/mine.py", doc="", chosen=True, error=why)
    chooser.show_policies([mine])
    assert chooser.boxes["order"].currentText() == "Mine (failed)"
    assert chooser.errors.text() == f"/home/me/mine.py: {why}"


def test_a_policy_that_is_refused_is_told(show: Show, until: Any) -> None:
    pane = show(10)
    pane._context.client.error = CrossDeskError("Only administrators may choose the policy of this broker.")
    pane.policy.boxes["order"].activated.emit(1)
    until(lambda: any("Only administrators" in notice for notice in pane._context.notices))


def test_decisions_come_in_above_while_one_reads_on(show: Show, until: Any) -> None:
    pane = show(3, decided=200)
    assert pane.decisions.at(0).number == 200
    pane.log.scrollToBottom()
    bar = pane.log.verticalScrollBar()
    top = pane.decisions.at(pane.log.rowAt(1)).number
    pane._context.client.decided = 207
    pane._context.topics.take(0, 1, 0)
    until(lambda: pane.decisions.at(0).number == 207)
    assert bar.value() > 0
    assert pane.decisions.at(pane.log.rowAt(1)).number == top


def test_decisions_are_filtered_by_text_and_by_the_chosen_job(show: Show) -> None:
    pane = show(5, decided=70)
    pane.edit.setText("next-choice")
    assert {pane.decisions.at(row).what for row in range(pane.decisions.rowCount())} == {"next-choice"}
    pane.queue_view.selectRow(3)
    pane.only.setChecked(True)
    assert {pane.decisions.at(row).job for row in range(pane.decisions.rowCount())} == {"job-3"}


def test_only_so_many_decisions_are_kept(qapp: QApplication) -> None:
    decisions = DecisionTable(qapp)
    decisions.add([decision(number) for number in range(1, KEPT + 500)])
    decisions.add([decision(number) for number in range(KEPT, KEPT + 600)])
    assert decisions.known == KEPT
    assert decisions.last == KEPT + 599
    assert decisions.rowCount() == KEPT


def test_ten_thousand_waiting_jobs_are_shown(show: Show) -> None:
    pane = show(10_000)
    assert pane.queue.rowCount() == 10_000
    pane.queue_view.selectRow(5000)
    pane._show_queue(pane.seen)
    assert pane.queue_view.row() == 5000


def test_nothing_waiting_an_error_and_no_broker_each_say_so(show: Show, qtbot: QtBot) -> None:
    pane = show(0)
    assert pane.either.currentWidget() is pane.calm
    assert pane.headline.text().startswith("Queue")
    fresh = SchedulerPane(pane._context)
    qtbot.addWidget(fresh)
    fresh.show_error(CrossDeskError("The disk could not be read."))
    assert fresh.state.primary.text() == "Try again"
    pane._context.link.set(ConnectionState.UNREACHABLE, "Another broker holds the state directory.")
    fresh._show()
    assert fresh.state.title.text() == "The broker cannot be reached"
    assert pane.queue_view.cells.gray
