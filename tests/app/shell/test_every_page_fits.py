"""Every page and dialog fits its window, in every size of text: nothing wider, nothing cut that has room."""

from __future__ import annotations

import asyncio
import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

import app
from app.shell.event_loop import DesktopLoop
from app.submission.sheet import SheetStage, SubmissionSheet
from app.theme.theme import BASE
from app.theme.tokens import Mode
from tests.app.every_page import PAGES, ended_batch, made_dialogs, opened_pages
from tests.app.fits import asked_width, faults, traps
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

SCALE = float(os.environ.get("QT_SCALE_FACTOR", "1"))
SCREENS = (
    ((900, 560), (1280, 800), (1440, 900), (2560, 1440)) if SCALE == 1 else ((1440, 900), (2560, 1440))
)
"""Pixels of the screens that the window fills; the first is the least that it works in."""
TEXTS = (11, 13, 18)
"""Pixels of the sizes of text."""
_NARROW = 1000
"""Pixels of a window in which the form beside a description is moved sideways, where text is large."""
MODES = (Mode.LIGHT, Mode.DARK, Mode.CONTRAST)


class Trap(QPlainTextEdit):
    """Takes all keys for itself."""

    def event(self, event: QEvent) -> bool:
        """No shortcut of the window goes before."""
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)


@pytest.mark.expected_log(r"\d+ failed")
def test_pages_fit(qapp: QApplication, broker: Path, soak: bool) -> None:
    found: dict[str, set[str]] = {}

    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.show_job(await on.finished("fails"))
        jobs = await ended_batch(on)
        for mode in MODES if soak else MODES[:1]:
            for text in TEXTS:
                on.context.theme.wear(mode=mode, size=text)
                for screen in SCREENS:
                    await _pages(on, screen, f"{mode.value} {text} px {screen[0]}", jobs, found)

    play(qapp, broker, scenario)
    assert not any(found.values()), _in_lines(found)


@pytest.mark.expected_log(r"\d+ failed")
def test_dialogs_fit(qapp: QApplication, broker: Path, soak: bool) -> None:
    found: dict[str, set[str]] = {}
    shown: set[type] = set()

    async def scenario(on: Stage) -> None:
        await on.ready()
        for mode in MODES if soak else MODES[:1]:
            for text in TEXTS:
                on.context.theme.wear(mode=mode, size=text)
                for screen in SCREENS:
                    shown.update(await _dialogs(on, screen, f"{mode.value} {text} px {screen[0]}", found))

    play(qapp, broker, scenario)
    assert not any(found.values()), _in_lines(found)
    for module in pkgutil.walk_packages(app.__path__, "app."):
        importlib.import_module(module.name)
    assert {one for one in _kinds(QDialog) if one.__module__.startswith("app.")} <= shown


def _kinds(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from _kinds(one)


@pytest.mark.expected_log(r"\d+ failed")
def test_every_page_can_be_left_by_keyboard(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.show_job(await on.finished("fails"))
        caught = {}
        for name in PAGES:
            on.context.trigger(name)
            await turns()
            caught[name] = await traps(on.window.tabs.currentWidget())
        assert not any(caught.values()), _in_lines(caught)

    play(qapp, broker, scenario)


def test_what_takes_all_keys_for_itself_is_found(qapp: QApplication) -> None:
    loop = DesktopLoop(qapp)
    asyncio.set_event_loop(loop)
    window, page, way_out = QWidget(), QWidget(), QLineEdit()
    column = QVBoxLayout(window)
    column.addWidget(page)
    column.addWidget(way_out)
    trap = Trap(page)
    trap.setAccessibleName("planted")
    window.show()
    try:
        assert loop.run_until_complete(traps(page)) == {"Trap “planted” in QWidget"}
        trap.setTabChangesFocus(True)
        assert loop.run_until_complete(traps(page)) == set()
    finally:
        window.close()
        loop.close()


def test_the_same_holds_at_a_scale_of_one_and_a_half(state_dir: Path) -> None:
    tests = [f"{__file__}::{test.__name__}" for test in (test_pages_fit, test_dialogs_fit)]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        words, env={**os.environ, "QT_SCALE_FACTOR": "1.5"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def _in_lines(found: dict[str, set[str]]) -> str:
    """Each fault with the views that have it."""
    views: dict[str, list[str]] = {}
    for view, told in found.items():
        for fault in told:
            views.setdefault(fault, []).append(view)
    return "\n".join(f"{fault}: {', '.join(where)}" for fault, where in sorted(views.items()))


async def _pages(
    on: Stage, screen: tuple[int, int], worn: str, jobs: list[str], found: dict[str, set[str]]
) -> None:
    size = (round(screen[0] / SCALE), round(screen[1] / SCALE))
    on.window.resize(*size)
    for name in PAGES:
        on.context.trigger(name)
        await turns(10)
        scrolled = name == "file.new" and size[0] < _NARROW and on.context.theme.size > BASE
        found[f"{name} {worn}"] = _page_faults(on, size, scrolled=scrolled)
        if name == "file.new":
            on.context.trigger("tab.close")
    async for name in opened_pages(on, jobs):
        found[f"{name} {worn}"] = _page_faults(on, size)


def _page_faults(on: Stage, size: tuple[int, int], *, scrolled: bool = False) -> set[str]:
    page, told = on.window.tabs.currentWidget(), faults(on.window)
    if asked_width(page) > on.window.tabs.width() and not scrolled:
        told.add(f"asks for {asked_width(page)} of {on.window.tabs.width()}")
    if on.window.size().toTuple() != size:
        told.add(f"makes the window {on.window.size().toTuple()}")
    return told


async def _dialogs(on: Stage, screen: tuple[int, int], worn: str, found: dict[str, set[str]]) -> set[type]:
    """Returns the kinds of those that were shown."""
    kinds: set[type] = set()
    size = (round(screen[0] / SCALE), round(screen[1] / SCALE))
    on.window.resize(*size)
    await turns(5)
    for name, dialog in made_dialogs(on):
        dialog.open()
        if isinstance(dialog, SubmissionSheet):
            await eventually(lambda sheet=dialog: sheet.stage is SheetStage.READY)
        await turns(10)
        told = faults(dialog)
        if dialog.width() > size[0] or dialog.height() > size[1]:
            told.add(f"is {dialog.size().toTuple()}")
        found[f"{name} {worn}"] = told
        kinds.add(type(dialog))
        dialog.close()
    return kinds
