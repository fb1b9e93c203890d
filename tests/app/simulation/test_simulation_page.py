"""The simulator in a window: a real child process replays, is watched, and is ended."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.simulation.page import SimulationPage
from app.theme.tokens import Mode
from tests.app.pictures import PICTURES
from tests.app.simulation.bare_context import COMPUTED, BareContext

Until = Callable[..., Any]


@pytest.fixture
def page(qapp: QApplication, loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[SimulationPage]:
    made = SimulationPage(BareContext(qapp, loop, tmp_path / "state"))
    made.resize(1100, 1400)
    made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    path = tmp_path / "sites.toml"
    path.write_text('[[sites]]\nname = "north"\ncpus = 900\n[[sites]]\nname = "south"\ncpus = 300\n')
    return path


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A trace that takes far longer than a test."""
    path = tmp_path / "long.swf"
    path.write_text("".join(f"{n} {n} -1 600 1 -1 -1 1 -1 -1 1 1 1 -1 -1 1 -1 -1\n" for n in range(150_000)))
    return path


def test_an_empty_page_teaches_and_knows_the_policies(page: SimulationPage, until: Until) -> None:
    assert "another policy" in page.state.title.text()
    assert page.state.isVisible()
    until(lambda: page.form.order.count())
    assert page.form.order.findData("worst-fit") >= 0
    assert page.form.order.findText("Worst fit") >= 0
    assert page.form.queue.findData("fcfs") >= 0
    assert page.form.words()[:2] == ["replay", "lcg-2005"]


def test_a_replay_shows_its_progress_and_then_its_figures_and_curves(
    page: SimulationPage, until: Until, sites: Path
) -> None:
    page.form.sites.choose(sites)
    said: list[str] = []
    page.child.told.connect(lambda _: said.append(page.form.said.text()))
    page.form.button.click()
    assert page.form.button.text() == "Cancel"
    until(lambda: page.result is not None and not page.child.running, COMPUTED)
    assert any("waiting" in text for text in said), "progress is told in words"
    assert page.form.button.text() == "Replay"
    assert page.result["summary"]["finished"] == 12_000
    assert page.figures.sites.rowCount() == 2
    assert page.figures.shown["of all CPUs used"] == f"{page.result['summary']['utilization']:.1%}"
    assert "courtesy of Hui Li" in page.figures.sentence.text()
    assert len(page._plots.used.plot.listDataItems()) == 2
    for mode in (Mode.LIGHT, Mode.DARK):
        page._context.theme.wear(mode=mode)
        assert page.grab().save(str(PICTURES / f"simulator-{mode.value}.png"))


def test_cancelling_ends_the_child_and_teaches_again(page: SimulationPage, until: Until, long: Path) -> None:
    page.form.trace.choose(long)
    page.form.button.click()
    until(lambda: page._points, COMPUTED)
    pid = page.child.pid
    page.form.button.click()
    until(lambda: not page.child.running)
    assert not _lives(pid)
    assert page.result is None
    assert page.state.isVisible()
    assert page.form.button.text() == "Replay"


def test_a_window_that_closes_takes_the_child_along(page: SimulationPage, until: Until, long: Path) -> None:
    page.form.trace.choose(long)
    page.form.button.click()
    until(lambda: page._points, COMPUTED)
    pid = page.child.pid
    page._context.task.cancel()
    until(lambda: not page.child.running)
    assert not _lives(pid)


def test_a_child_that_is_killed_is_told(page: SimulationPage, until: Until, long: Path) -> None:
    page.form.trace.choose(long)
    page.form.button.click()
    until(lambda: page._points, COMPUTED)
    pid = page.child.pid
    assert pid > 0
    os.kill(pid, signal.SIGKILL)
    until(lambda: not page.child.running)
    assert "did not work" in page.state.title.text()
    assert page.state.isVisible()


def test_a_trace_that_is_none_is_told_with_its_line(
    page: SimulationPage, until: Until, tmp_path: Path
) -> None:
    path = tmp_path / "mine.swf"
    path.write_text("; Version: 2.2\nhello\n")
    page.form.trace.choose(path)
    page.form.button.click()
    until(lambda: page.state.title.text() == "The replay did not work", 60)
    assert "mine.swf:2" in page.state.text.text()
    page.state.secondary.click()


def _lives(pid: int) -> bool:
    assert pid > 0
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
