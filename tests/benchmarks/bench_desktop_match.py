"""Matching while typing, and the table of resources: 10,000 with a real broker, 100,000 made up."""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import time
from pathlib import Path
from typing import Any

from tests.app.resources.on_file import set_up
from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.benchmarks.gaps import Gaps
from tests.benchmarks.meanwhile import Meanwhile

RESOURCES, MANY = 10_000, 100_000
_TYPED = 25
_LINES = (
    'Executable = "/bin/true";\n',
    "Requirements = other.GlueCEInfoTotalCPUs >= {0} && other.GlueHostMainMemoryRAMSize >= 2048\n",
    '    && member("VO-cms-8.2", other.GlueHostApplicationSoftwareRunTimeEnvironment);\n',
    "Rank = other.GlueCEStateFreeCPUs;\n",
)


def measure(kind: type[Meanwhile] = Meanwhile) -> list[Figure]:
    """All figures, in windows without a screen."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from app.shell.event_loop import DesktopLoop
    from app.shell.garbage import GarbageCollector, short_turns

    app = QApplication.instance() or QApplication(["bench"])
    app.setQuitOnLastWindowClosed(False)
    GarbageCollector(app)
    short_turns()
    loop = DesktopLoop(app)
    asyncio.set_event_loop(loop)
    with loop:
        return loop.run_until_complete(_measure(kind))


async def _measure(kind: type[Meanwhile]) -> list[Figure]:
    from app.main import arguments, build

    state_dir = Path(os.environ["CROSSDESK_STATE_DIR"])
    set_up(state_dir, RESOURCES)
    async with running() as (_, client):
        while (await client.resources_page(0, 1)).total <= RESOURCES:
            await asyncio.sleep(0.1)
        window = build(_application(), arguments(["--state-dir", str(state_dir)]))
        window.show()
        window.build_deferred()
        window.context.begin()
        gc.freeze()  # as the program does
        gaps = Gaps()
        try:
            while not window.context.jobs.complete:
                await asyncio.sleep(0.05)
            async with kind(client) as meanwhile:
                figures = [
                    *await _typing(window, gaps), *await _table(window, gaps), *await _many(window, gaps)
                ]  # fmt: skip
            return meanwhile.named(figures)
        finally:
            await window.context.close()
            window.close()


def _application() -> Any:
    from PySide6.QtWidgets import QApplication

    return QApplication.instance()


async def _typing(window: Any, gaps: Gaps) -> list[Figure]:
    """From the changed text to the painted counts, without the pause that waits for the next key."""
    from app.match.asking import DEBOUNCE_MS

    window.context.open_editor("")  # the first one also loads what it is made of
    await asyncio.sleep(0.5)
    gaps.reset()
    window.context.open_editor("".join(_LINES).format(8))
    await asyncio.sleep(0.1)
    opened = gaps.figure("longest block while a description is opened", at_most=None)
    editor = window.tabs.currentWidget()
    view = editor.whereabouts.view
    view.filters.access.setChecked(True)
    editor.where()
    shown = asyncio.Event()
    view.shown.connect(shown.set)
    await shown.wait()
    await asyncio.sleep(0.5)
    gaps.reset()
    spent = []
    for number in range(_TYPED):
        shown.clear()
        begin = time.perf_counter()
        editor.set_text("".join(_LINES).format(9 + number))
        await shown.wait()
        view.clauses.table.viewport().repaint()
        view.list.viewport().repaint()
        spent.append(time.perf_counter() - begin - DEBOUNCE_MS / 1000)
        await asyncio.sleep(0.1)
    if view.report.known <= RESOURCES or not view.report.matching:
        raise RuntimeError(f"{view.report.matching} of {view.report.known} match")
    return [
        opened,
        Figure("text to painted counts over 10,000, median", round(statistics.median(spent) * 1000, 1),
               "ms", at_most=100),
        Figure("the same, worst", round(max(spent) * 1000, 1), "ms"),
        gaps.figure("longest block of the window while typing"),
    ]  # fmt: skip


async def _table(window: Any, gaps: Gaps) -> list[Figure]:
    """From opening the resources to all rows of the real broker."""
    gaps.reset()
    begin = time.perf_counter()
    window.context.trigger("view.resources")
    pane = window.tabs.currentWidget()
    while pane.table.rowCount() <= RESOURCES:
        await asyncio.sleep(0.002)
    spent, block = time.perf_counter() - begin, gaps.figure("longest block meanwhile", at_most=None)
    window.tabs.setCurrentWidget(window.jobs)  # what is not seen does not ask the made-up broker that comes
    await asyncio.sleep(0.5)  # the jobs are painted, which is no part of what comes
    return [
        Figure("opening the table of 10,000 resources", round(spent, 3), "s"),
        block,
    ]


async def _many(window: Any, gaps: Gaps) -> list[Figure]:
    """Filter, order and scroll 100,000 resources."""
    from app.resources.pane import ResourcesPane
    from tests.app.resources.made_up import CacheBroker

    real, window.context.session.client = window.context.session.client, CacheBroker(MANY)
    gc.freeze()  # a real broker keeps its columns in a process of its own
    pane = ResourcesPane(window.context)
    pane.resize(1280, 800)
    gaps.reset()
    pane.show()
    while pane.table.rowCount() < MANY:
        await asyncio.sleep(0.005)
    loading = gaps.figure("longest block while 100,000 resources load")
    gaps.reset()
    pane.edit.setText("spain mpi")
    while pane.table.rowCount() == MANY:
        await asyncio.sleep(0.002)
    pane.edit.clear()
    while pane.table.rowCount() < MANY:
        await asyncio.sleep(0.002)
    filtering, frames = gaps.figure("longest block while they are filtered"), []
    bar = pane.view.verticalScrollBar()
    for step in range(200):
        bar.setValue(bar.maximum() * step // 200)
        begin = time.perf_counter()
        pane.view.viewport().repaint()
        frames.append(time.perf_counter() - begin)
        await asyncio.sleep(0)
    window.context.session.client = real
    pane.close()
    frames.sort()
    return [
        loading,
        filtering,
        Figure("frame while scrolling them, 99 %", round(frames[-2] * 1000, 2), "ms", at_most=16),
    ]
