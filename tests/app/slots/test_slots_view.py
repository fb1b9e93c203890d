"""The slots view: a row for each glidein, where the chosen one is in its life, the day, and what it says
without data (CB-UI-10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.resources.slots.pane import SlotsPane
from app.resources.slots.table import BATCH, BOXED, ENDS, INTERACTIVE, STATE
from app.stores.link import ConnectionState
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.cells import BADGE, SHARE
from broker_core.errors import CrossDeskError, NotFound
from broker_core.wire.slots import SlotsView
from tests.app.fits import faults
from tests.app.inspector.recorded import TestContext
from tests.app.slots.made_up import SlotBroker, batch, four, glidein, slots

Show = Callable[[SlotsView], SlotsPane]


@pytest.fixture
def show(loop: asyncio.AbstractEventLoop, qapp: QApplication, qtbot: QtBot, until: Any) -> Show:
    """Show the page of what a broker tells."""

    def make(view: SlotsView) -> SlotsPane:
        pane = SlotsPane(TestContext(Theme(qapp, Mode.LIGHT), SlotBroker(view)))
        qtbot.addWidget(pane)
        pane.resize(1000, 700)
        pane.show()
        until(lambda: pane._store.view is view)
        return pane

    return make


def texts(pane: SlotsPane, column: int) -> list[str]:
    """What a column shows."""
    return [pane.table.index(row, column).data() for row in range(pane.table.rowCount())]


def test_each_glidein_is_a_row_with_both_slots_their_priority_and_share(show: Show, until: Any) -> None:
    pane = show(four())
    assert pane.headline.text() == "2 interactive slots free in 4 glideins"
    assert texts(pane, STATE) == ["Queued", "Busy", "Shared", "Idle"]
    assert texts(pane, BATCH) == ["–", "fit-2  100 %", "fit-3  10 %", "Free"]
    assert texts(pane, INTERACTIVE) == ["–", "Free", "shell  90 %", "Free"]
    assert texts(pane, BOXED)[:3] == ["Not known", "Yes", "No"]
    assert texts(pane, ENDS)[:3] == ["", "", ""]
    assert texts(pane, ENDS)[3].startswith("3 m")
    shared = pane.table.index(2, BATCH)
    assert (shared.data(BADGE), shared.data(SHARE)[0]) == ("nice 10", 0.097)
    said = "Batch slot: fit-3, running, nice 10, 10 % of the CPU while both compute"
    assert shared.data(Qt.ItemDataRole.AccessibleTextRole) == said
    until(lambda: pane.plot is not None and pane.plot.isVisible())
    assert pane.plot is not None
    assert pane.plot.said.text().endswith("8 slots there, 5 slots in use")
    assert pane.day.text() == "Last day: 38 slots opened, 41 jobs ran in them"
    assert not faults(pane)


def test_how_many_wait_in_line_for_a_slot_is_shown(show: Show) -> None:
    view = four()
    view.glideins[1].slots[0].line = 5
    pane = show(view)
    assert texts(pane, BATCH)[1] == "fit-2  100 %  +5 in line"
    told = pane.table.index(1, BATCH).data(Qt.ItemDataRole.AccessibleTextRole)
    assert told.endswith(", 5 in line behind it")


def test_the_life_of_the_chosen_glidein_is_drawn_and_follows_the_events(show: Show, until: Any) -> None:
    pane = show(
        slots(glidein(1, "Starting"), glidein(2, "Busy", batch("fit-2"), four().glideins[1].slots[1]))
    )
    pane.view.selectRow(1)
    assert [line.now for line in pane.lives.lines] == ["Busy", "Running", "Free"]
    assert "Both slots" not in pane.lives.accessibleName()
    pane._context.client.view = slots(glidein(2, "Shared", *four().glideins[2].slots))
    pane._context.topics.take(0, 0, 0, 1)
    until(lambda: pane.table.rowCount() == 1)
    assert [line.now for line in pane.lives.lines] == ["Shared", "Running", "Running"]
    assert pane.lives.worded()
    pane.resize(420, 700)
    until(lambda: not pane.lives.worded())
    pane.grab()


def test_return_opens_the_job_in_the_cell(show: Show) -> None:
    pane = show(four())
    pane.view.setCurrentIndex(pane.table.index(2, INTERACTIVE))
    pane.view.opened.emit(2)
    pane.view.setCurrentIndex(pane.table.index(2, STATE))
    pane.view.opened.emit(2)
    assert pane._context.opened == ["id-shell story", "id-fit-3 story"]


def test_all_of_it_is_written_as_csv_with_exact_values(show: Show) -> None:
    written = show(four()).table.csv()
    rows = [dict(zip(written.header, row, strict=True)) for row in written.rows]
    assert [row["slot1_share"] for row in rows] == [None, 1.0, 0.097, None]
    assert rows[2]["slot2_job"] == "id-shell"


def test_where_slots_are_off_the_page_says_how_to_turn_them_on(show: Show) -> None:
    pane = show(slots(sites=()))
    assert pane.state.title.text() == "Virtual slots are off"
    assert 'glideins = ["cluster"]' in pane.state.text.text()


def test_none_yet_an_error_an_earlier_broker_and_no_broker_each_say_so(
    show: Show, until: Any, qtbot: QtBot
) -> None:
    pane = show(slots())
    assert pane.calm.isVisible()
    assert pane.calm.title.text() == "No glidein now"
    fresh = SlotsPane(TestContext(pane._context.theme, SlotBroker(slots())))
    qtbot.addWidget(fresh)
    fresh._context.client.error = CrossDeskError("The disk could not be read.")
    fresh._store.reload()
    until(lambda: fresh._store.error)
    assert fresh.state.primary.text() == "Try again"
    fresh._context.client.error = NotFound("There is no such address.")
    fresh._store.reload()
    until(lambda: fresh._store.view is not None)
    assert fresh.state.title.text() == "Virtual slots are off"
    pane._context.link.set(ConnectionState.UNREACHABLE, "Nobody listens.")
    assert pane.view.cells.gray
