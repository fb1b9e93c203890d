"""The resources view: table, filter, order, details, map, sources, and what it says without data."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.resources.columns import BY_NAME, COLUMNS
from app.resources.health import tip, trouble
from app.resources.pane import ResourcesPane
from app.stores.link import ConnectionState
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.cells import GLYPH
from broker_core.errors import CrossDeskError
from broker_core.wire.resources import SourceView
from tests.app.inspector.recorded import TestContext
from tests.app.resources.made_up import CacheBroker

Show = Callable[[int], ResourcesPane]


@pytest.fixture
def show(loop: asyncio.AbstractEventLoop, qapp: QApplication, qtbot: QtBot, until: Any) -> Show:
    """Show the view of a cache with a number of resources."""

    def make(number: int) -> ResourcesPane:
        pane = ResourcesPane(TestContext(Theme(qapp, Mode.LIGHT), CacheBroker(number)))
        qtbot.addWidget(pane)
        pane.resize(1280, 800)
        pane.show()
        until(lambda: pane.held.complete and pane.table.rowCount() == number)
        return pane

    return make


def cells(pane: ResourcesPane, name: str) -> list[str]:
    return [pane.table.index(row, BY_NAME[name]).data() for row in range(pane.table.rowCount())]


def test_resources_stand_by_site_and_the_first_is_shown_in_full(show: Show, until: Any) -> None:
    pane = show(10)
    assert cells(pane, "site") == sorted(cells(pane, "site"))
    until(lambda: pane.detail.shown)
    assert pane.detail.name.text() == cells(pane, "site")[0]
    until(lambda: pane.detail.plot is not None and len(pane.detail.plot._times))
    assert len(pane.detail.plot._times) == 288
    assert "4 CPUs promised to 1 job" in pane.detail.promises.text()
    assert "Locked by job k9" in pane.detail.promises.text()


def test_every_attribute_has_its_source_and_age_and_what_others_say(show: Show, until: Any) -> None:
    pane = show(10)
    until(lambda: pane.detail.shown)
    model = pane.detail.attributes
    named = {model.index(row, 0).data(): row for row in range(model.rowCount())}
    row = named["GlueHostMainMemoryRAMSize"]
    assert [model.index(row, at).data() for at in (1, 2)] == ["2048", "index"]
    assert model.index(row, 3).data().endswith(" ago")
    assert "file says 4096" in model.index(row, 1).data(Qt.ItemDataRole.ToolTipRole)
    pane.detail.edit.setText("runtime")
    assert model.rowCount() == 1
    assert model.index(0, 1).data() == "{MPICH, OPENMPI, VO-cms-8.2}"


def test_the_table_is_sorted_by_a_click_and_keeps_what_is_chosen(show: Show, until: Any) -> None:
    pane = show(300)
    pane.view.selectRow(7)
    chosen = pane.detail.ce
    header = pane.view.horizontalHeader()
    header.setSortIndicator(BY_NAME["free_cpus"], Qt.SortOrder.DescendingOrder)

    def numbers() -> list[int]:
        return [int(text.replace(",", "")) for text in cells(pane, "free_cpus")]

    until(lambda: numbers() == sorted(numbers(), reverse=True))
    assert pane.table.ce_at(pane.view.row()) == chosen


def test_words_filter_by_site_country_state_and_source(show: Show, until: Any) -> None:
    pane = show(300)
    pane.edit.setText("spain mpi")
    until(lambda: 0 < pane.table.rowCount() < 300)
    assert all(site.startswith("ES-") for site in cells(pane, "site"))
    assert pane.count.text() == f"{pane.table.rowCount()} of 300 resources"
    pane.edit.setText("nowhere at all")
    until(lambda: pane.either.currentWidget() is pane.nothing)


def test_marks_are_told_by_shape_colour_and_word(show: Show) -> None:
    pane = show(300)
    shapes = [pane.table.index(row, 0).data(GLYPH)[0].value for row in range(300)]
    faces = set(zip(cells(pane, "state"), shapes, strict=True))
    assert {("Down", "cross"), ("Stale", "question"), ("Drained", "pause"), ("Up", "check")} <= faces


def test_columns_are_chosen_and_kept(show: Show, until: Any) -> None:
    pane = show(10)
    pane.columns.offer_below()
    menu = until(lambda: pane.view.findChild(QMenu))
    boxes = {action.text(): action for action in menu.actions()}
    assert not boxes["Site"].isEnabled()
    boxes["Country"].trigger()
    menu.close()
    assert not pane.view.isColumnHidden(BY_NAME["country"])
    kept = {name: shown for name, _, shown in pane._context.preferences["resource_columns"]}
    assert kept["country"]
    assert set(kept) == {column.name for column in COLUMNS}


def test_sources_tell_how_they_do_and_can_be_asked_again(show: Show, until: Any) -> None:
    pane = show(10)
    until(lambda: len(pane.health.chips) == 4)
    assert "failed" in pane.health.chips["old-index"].said.text()
    assert "no answer from PL-GRID-0012" in pane.health.trouble.text()
    pane.health.chips["index"].again.click()
    pane.health.all.click()
    until(lambda: pane._context.client.refreshed == [["index"], []])
    assert not pane.health.chips["rgma"].again.isEnabled()


def test_the_map_shows_sites_and_a_click_chooses_one(show: Show, until: Any, qtbot: QtBot) -> None:
    pane = show(10)
    pane._kinds.button(1).click()
    assert pane.either.currentWidget() is pane.map
    until(lambda: pane.map.markers)
    assert {marker.site for marker in pane.map.markers} == set(cells(pane, "site"))
    marker = next(one for one in pane.map.seen() if one.sites == 1 and one.site != pane.map._chosen)
    at = pane.map._at(marker.latitude, marker.longitude)
    qtbot.mouseClick(pane.map, Qt.MouseButton.LeftButton, pos=QPoint(round(at.x()), round(at.y())))
    until(lambda: pane.detail.name.text() == marker.site)


def test_many_sites_stand_together_until_one_comes_nearer(show: Show, until: Any) -> None:
    pane = show(3000)
    pane._kinds.button(1).click()
    until(lambda: pane.map.markers)
    seen = pane.map.seen()
    assert len(seen) < 60
    assert sum(marker.sites for marker in seen) == len(pane.map.markers) == 1000
    assert sum(marker.total for marker in seen) == sum(pane.held.columns["total_cpus"])
    before = pane.map._pixels()
    assert pane.map.spot_at(QPointF(-500, -500)) is None
    pane.map._approach(seen[0])
    assert pane.map._pixels() == 3 * before
    assert len(pane.map.seen()) > len(seen)


def test_ten_thousand_rows_come_by_pages_and_are_there_at_once(show: Show, until: Any) -> None:
    pane = show(10_000)
    assert pane.count.text() == "10,000 resources"
    pane.view.scrollToBottom()
    assert pane.view.rowAt(pane.view.viewport().height() - 1) == 9_999
    pane.edit.setText("GRID-03333")
    until(lambda: pane.table.rowCount() == 1)


def test_new_numbers_are_painted_in_place(show: Show, until: Any) -> None:
    pane = show(30)
    pane.view.selectRow(11)
    pane._context.client.columns["free_cpus"] = [7] * 30
    pane._context.topics.take(1, 0, 0)
    until(lambda: set(cells(pane, "free_cpus")) == {"7"})
    assert pane.view.row() == 11


def test_without_resources_an_error_or_no_broker_it_says_what_to_do(show: Show, until: Any) -> None:
    pane = show(0)
    until(lambda: pane.state.title.text() == "No resources are known")
    pane._context.client.error = CrossDeskError("The disk could not be read.")
    pane.look()
    until(lambda: pane.state.primary.text() == "Try again")
    pane._context.link.set(ConnectionState.UNREACHABLE, "Another broker holds the state directory.")
    assert pane.state.title.text() == "The broker cannot be reached"


def test_a_source_tells_what_of_its_answer_was_refused() -> None:
    remarks = ["resource 1: refused: it has no ce", "b: GlueCEInfoTotalCPUs = -4 left out"]
    source = SourceView(name="mine", kind="file", state="ok", refused=5, remarks=remarks)
    assert trouble(source) == "mine: 5 refused (resource 1: refused: it has no ce)"
    assert tip(source).splitlines()[-4:] == ["5 refused:", *remarks, "3 more refused"]
