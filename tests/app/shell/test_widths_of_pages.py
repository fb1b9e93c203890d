"""The window fits small screens: no page makes it wider, or takes from the panes beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QScrollArea, QWidget

from app.shell import sheets
from app.shell.settings import SettingsDialog
from app.simulation.page import SimulationPage
from app.sites.adding.sheet import AddSite
from app.sites.card import SiteCard
from app.stores.preferences import Preferences
from app.submission.draft import JobDraft
from app.submission.sheet import SheetStage, SubmissionSheet
from app.widgets.column_widths import divide
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

PAGES = (
    "view.jobs", "view.sites", "view.statistics", "view.resources", "view.scheduler", "view.match",
    "view.simulation", "view.welcome", "help.contents", "file.new",
)  # fmt: skip
LEAST = (900, 560)
SIZES = (LEAST, (1280, 800))
MOST = 560
"""Pixels that a sheet may ask for."""


def _asked(page: QWidget) -> int:
    """The width that a page asks for, and what it scrolls up and down if that is wider than the page."""
    areas = [area for area in [page, *page.findChildren(QScrollArea)] if isinstance(area, QScrollArea)]
    inner = [area.widget().minimumSizeHint().width() for area in areas if area.isVisible() and area.widget()]
    wider = [width for width in inner if width > page.width()]
    return max(page.minimumSizeHint().width(), page.minimumWidth(), *wider)


def _panes(on: Stage) -> tuple[int, int]:
    return on.window.left.width(), on.window.right.width()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.expected_log(r"\d+ failed")
def test_no_page_asks_for_more_width_than_the_main_area(
    qapp: QApplication, broker: Path, size: tuple[int, int]
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.show_job(await on.finished("fails"))
        on.window.resize(*size)
        await turns()
        panes, wide = _panes(on), {}
        for name in PAGES:
            on.context.trigger(name)
            await turns()
            page = on.window.tabs.currentWidget()
            if (asked := _asked(page)) > on.window.tabs.minimumSizeHint().width():
                wide[name] = asked
            assert on.window.size().toTuple() == size
            assert _panes(on) == panes
        assert wide == {}

    play(qapp, broker, scenario)


def test_entries_of_the_sidebar_are_whole_beside_its_scroll_bar(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.window.resize(*LEAST)
        on.window.sidebar.setFixedHeight(240)
        entries = on.window.sidebar.list
        bar = entries.verticalScrollBar()
        await eventually(lambda: bar.maximum() > bar.minimum(), what="not all entries fit")
        lines = entries.itemDelegate()
        needed = max(lines.width_of(entries.item(at)) for at in range(entries.count()))
        await eventually(lambda: entries.viewport().width() >= needed, what="the longest entry is seen whole")

    play(qapp, state_dir, scenario, connect=False)


@pytest.mark.expected_log(r"\d+ failed")
def test_tabs_of_the_inspector_fit_into_the_least_window(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.show_job(await on.finished("fails"))
        on.window.resize(*LEAST)
        inspector, wide = on.window.inspector, {}
        for name, pane in inspector.panes.items():
            inspector.show_tab(name)
            await eventually(lambda pane=pane: not pane._refresh.under_way)
            await turns()
            if (asked := _asked(pane)) > inspector.minimumWidth():
                wide[name] = asked
            assert on.window.right.geometry().bottom() < on.window.statusBar().geometry().top()
        assert inspector.header.minimumSizeHint().width() <= inspector.minimumWidth()
        assert wide == {}
        assert on.window.size().toTuple() == LEAST

    play(qapp, broker, scenario)


def test_sheets_fit_into_the_least_window(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.resize(*LEAST)
        sheet = SubmissionSheet(on.context, (JobDraft("a", 'Executable = "/bin/echo";'),), on.window)
        handlers = on.window.handlers
        made: dict[str, QDialog] = {
            "submission": sheet,
            "settings": SettingsDialog(on.context, on.window),
            "shortcuts": sheets.shortcuts(on.window),
            "about": sheets.about(on.window, on.context.theme, on.context.link.broker),
            "site": AddSite(on.context, handlers.site_commands, handlers.answers, on.window),
        }
        large = {}
        for name, dialog in made.items():
            dialog.open()
            if dialog is sheet:
                await eventually(lambda: sheet.stage is SheetStage.READY)
            await turns()
            fits = _asked(dialog) <= MOST and dialog.width() <= LEAST[0] and dialog.height() <= LEAST[1]
            if not fits:
                large[name] = (_asked(dialog), dialog.size().toTuple())
            dialog.close()
        assert large == {}

    play(qapp, broker, scenario)


def test_panes_come_back_when_a_tab_is_closed_and_after_a_restart(
    qapp: QApplication, state_dir: Path
) -> None:
    widths: list[tuple[int, int]] = []

    async def before(on: Stage) -> None:
        on.window.resize(*SIZES[1])
        await turns()
        widths.append(_panes(on))
        on.context.trigger("view.simulation")
        await turns()
        page = on.window.tabs.currentWidget()
        assert isinstance(page, SimulationPage)
        assert on.window.size().toTuple() == SIZES[1]
        on.context.trigger("tab.close")
        await turns()
        widths.append(_panes(on))

    async def after(on: Stage) -> None:
        await turns()
        widths.append(_panes(on))

    play(qapp, state_dir, before, connect=False)
    Preferences()["geometry"] = ""  # the offscreen display is smaller than the window
    play(qapp, state_dir, after, connect=False)
    assert widths == [widths[0]] * 3


def test_the_window_can_be_made_as_small_as_its_least_size(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.window.resize(10, 10)
        await turns()
        assert on.window.size().toTuple() == LEAST

    play(qapp, state_dir, scenario, connect=False)


def test_a_column_that_lacks_room_takes_what_others_do_not_need() -> None:
    assert divide([100, 100, 50], [40, 180, 50], 250, 1) == [40, 160, 50], "all of it is needed"
    assert divide([100, 100, 50], [40, 120, 50], 250, 1) == [80, 120, 50], "no more than it needs"
    assert divide([100, 100, 50], [40, 120, 50], 400, 1) == [100, 250, 50], "there is room for all"
    assert divide([100, 100, 50], [40, 100, 80], 250, 1) == [70, 100, 80], "others take it too"


@pytest.mark.parametrize("size", [13, 18])
def test_no_word_of_settings_and_site_cards_is_cut_whatever_the_size_of_text(
    qapp: QApplication, broker: Path, size: int
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.resize(*LEAST)
        on.context.theme.wear(size=size)
        on.context.trigger("view.sites")
        card = await eventually(lambda: on.window.findChild(SiteCard), what="a card")
        dialog = SettingsDialog(on.context, on.window)
        dialog.open()
        await turns()
        for page in (card, dialog):
            labels = [one for one in page.findChildren(QLabel) if one.isVisible() and not one.wordWrap()]
            cut = {one.text() for one in labels if one.width() < one.minimumSizeHint().width()}
            assert labels
            assert not cut
        dialog.close()

    play(qapp, broker, scenario)
