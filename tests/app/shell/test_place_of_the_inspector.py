"""The inspector takes a share of the window, folds away where it has nothing to show, and never repeats
the job in front."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.inspector.inspector import Inspector
from app.inspector.overflow_tabs import OverflowTabs
from tests.app.windows import Stage, outside, play, turns


def share(on: Stage) -> float:
    return on.window.right.width() / on.window.width()


def test_the_inspector_takes_its_share_of_every_window_and_keeps_what_the_user_chose(
    qapp: QApplication, tmp_path: Path
) -> None:
    async def scenario(on: Stage) -> None:
        for width in (1440, 1920, 2560):
            on.window.resize(width, 800)
            await turns()
            assert share(on) == pytest.approx(0.35, abs=0.01)
        on.window.resize(1280, 800)
        await turns()
        assert on.window.tabs.width() >= 700, "the usual columns have room"
        on.window.resize(900, 560)
        await turns()
        assert on.window.width() == 900
        assert on.window.right.width() >= 308
        on.window.resize(1440, 800)
        await turns()
        edge = on.window.right.geometry().topLeft() + QPoint(-1, 300)
        QTest.mousePress(on.window, Qt.MouseButton.LeftButton, pos=edge)
        await outside(lambda: QTest.mouseMove(on.window, edge - QPoint(144, 0)))
        await turns()
        QTest.mouseRelease(on.window, Qt.MouseButton.LeftButton, pos=edge - QPoint(144, 0))
        await turns()
        assert share(on) == pytest.approx(0.45, abs=0.02)

    async def again(on: Stage) -> None:
        on.window.resize(2000, 800)
        await turns()
        assert share(on) == pytest.approx(0.45, abs=0.02)

    play(qapp, tmp_path / "state", scenario, connect=False)
    play(qapp, tmp_path / "state", again, connect=False)


def test_the_inspector_folds_away_beside_pages_without_jobs(qapp: QApplication, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        dock = on.window.right
        on.window.handlers.show_jobs()
        assert dock.isVisible()
        for name in ("sites", "simulation", "statistics", "welcome"):
            on.window.handlers.show_page(name)
            assert dock.isHidden(), name
        on.window.handlers.help()
        assert dock.isHidden()
        on.window.handlers.toggle_pane("right")
        assert dock.isVisible(), "it comes where it is wanted"
        on.window.handlers.show_jobs()
        assert dock.isVisible()
        on.window.handlers.toggle_pane("right")
        on.window.handlers.show_page("sites")
        on.window.handlers.show_jobs()
        assert dock.isHidden(), "and stays away where it is not"
        on.window.handlers.toggle_pane("right")
        on.window.handlers.show_page("sites")

    async def again(on: Stage) -> None:
        on.window.handlers.show_jobs()
        await turns()
        assert on.window.right.isVisible()

    play(qapp, tmp_path / "state", scenario, connect=False)
    play(qapp, tmp_path / "state", again, connect=False)


def test_a_job_that_is_in_front_as_a_tab_is_not_shown_twice(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        job = await on.finished("fails")
        on.context.show_job(job)
        assert on.window.right.isVisible()
        on.window.open_job(job)
        assert on.window.right.isHidden()
        shown = [one for one in on.window.findChildren(Inspector) if one.isVisible()]
        assert [one.ids for one in shown] == [[job]]

    play(qapp, broker, scenario)


def test_tabs_that_do_not_fit_stand_in_a_menu(qtbot: QtBot) -> None:
    tabs = OverflowTabs()
    qtbot.addWidget(tabs)
    for title in ("Story", "Logs", "Output", "Console", "View", "Where", "Text"):
        tabs.addTab(QWidget(), title)
    tabs.setTabEnabled(4, False)
    tabs.resize(900, 300)
    tabs.show()
    qtbot.waitUntil(lambda: not tabs.more.isVisible())
    assert not tabs.out_of_sight()
    tabs.resize(200, 300)
    qtbot.waitUntil(tabs.more.isVisible)
    menu = tabs.more.menu()
    menu.aboutToShow.emit()
    offered = {act.text(): act for act in menu.actions()}
    assert "Text" in offered
    assert "Story" not in offered
    offered["Text"].trigger()
    assert tabs.tabText(tabs.currentIndex()) == "Text"
    assert tabs.currentIndex() not in tabs.out_of_sight()
