"""The jobs table with 100,000 jobs: loading, scrolling under live updates, memory, news, large batches."""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.broker import HELD, running, submission
from tests.benchmarks.figure import Figure
from tests.benchmarks.gaps import Gaps
from tests.benchmarks.meanwhile import Meanwhile

JOBS, _CALL = 100_000, 10_000
_SECONDS, _RATE = 5.0, 1000
_NEWS = 20
_BATCH_SECONDS = 3.0


def measure(kind: type[Meanwhile] = Meanwhile) -> list[Figure]:
    """All figures of the table, with a real broker and a window without a screen."""
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
        return loop.run_until_complete(_measure(app, kind))


async def _measure(app: Any, kind: type[Meanwhile]) -> list[Figure]:
    from app.main import arguments, build

    async with running() as (_, client):
        text = 'Executable = "/bin/echo"; Arguments = "_PARAM_";'
        values = [str(number) for number in range(_CALL)]
        for _ in range(JOBS // _CALL):
            await client.submit(submission(text, HELD, values))
        window = build(app, arguments(["--state-dir", os.environ["CROSSDESK_STATE_DIR"]]))
        window.show()
        window.build_deferred()
        gc.freeze()  # as the program does
        window.jobs.table.view.folding = False
        gaps = Gaps()
        try:
            async with kind(client) as meanwhile:
                figures = await _loading(window, gaps)
                figures.append(
                    Figure("memory of the desktop with them", round(_resident(), 1), "MB", at_most=400)
                )
                figures += await _scrolling(window, gaps)
                figures.append(await _news(window, client))
                figures += await batches(window, gaps)
        finally:
            await window.context.close()
            window.close()
    return meanwhile.named(figures)


async def _loading(window: Any, gaps: Gaps) -> list[Figure]:
    context, seen = window.context, dict[str, float]()
    connected = asyncio.Event()

    def begin() -> None:
        seen["connected"] = time.perf_counter()
        gaps.reset()
        connected.set()

    context.session.on_connected.append(begin)
    context.jobs.changed.connect(lambda ids: ids and seen.setdefault("first", time.perf_counter()))
    done = asyncio.Event()
    context.jobs.loaded.connect(done.set)
    context.begin()
    await done.wait()
    window.jobs.view.viewport().repaint()
    seen["all"] = time.perf_counter()
    if len(window.jobs.table.view.lines) < JOBS:
        raise RuntimeError(f"the table shows {len(window.jobs.table.view.lines)} lines")
    return [
        Figure(
            "connect to the first rows of 100,000",
            round(seen["first"] - seen["connected"], 3),
            "s",
            at_most=0.5,
        ),
        Figure("connect to all rows of 100,000", round(seen["all"] - seen["connected"], 3), "s", at_most=3.0),
        gaps.figure("longest block of the window meanwhile"),
    ]


async def _scrolling(window: Any, gaps: Gaps) -> list[Figure]:
    rows, view = window.context.jobs, window.jobs.view
    frames: list[float] = []
    bar, sent = view.verticalScrollBar(), 0
    gaps.reset()
    begin = time.perf_counter()
    while (spent := time.perf_counter() - begin) < _SECONDS:
        wanted = int(spent * _RATE) - sent
        if wanted:
            _change(rows, sent, wanted, view.window_lines()[0])
            sent += wanted
        bar.setValue(int(spent / _SECONDS * bar.maximum()))
        start = time.perf_counter()
        view.viewport().repaint()
        frames.append(time.perf_counter() - start)
        await asyncio.sleep(0.005)
    frames.sort()
    return [
        Figure("frame at 1,000 updates/s, 99 %", round(frames[-len(frames) // 100] * 1000, 2),
               "ms", at_most=16),
        Figure("the same, median", round(statistics.median(frames) * 1000, 2), "ms"),
        gaps.figure("longest block while scrolling"),
    ]  # fmt: skip


def _change(rows: Any, sent: int, number: int, near: int) -> None:
    """Change rows as an update of the event stream does, half of them where the reader looks."""
    total = len(rows.columns["id"])
    places = [(near + step if step % 2 else (sent + step) * 7919) % total for step in range(number)]
    changed = {name: [values[place] for place in places] for name, values in rows.columns.items()}
    changed["state"] = ["Running" if (sent + step) % 3 else "Waiting" for step in range(number)]
    changed["position"] = [position + 1 for position in changed["position"]]
    rows.merge(changed)


async def _news(window: Any, client: Any) -> Figure:
    """From the broker's event to the painted row, for real jobs."""
    late: list[float] = []

    def told(events: list[Any]) -> None:
        ids = {event.job for event in events if event.type in ("job.running", "job.done")}
        if ids:
            waiting.update({event.job: event.time for event in events if event.job in ids})

    def painted(ids: set[str]) -> None:
        window.jobs.view.viewport().repaint()
        late.extend(time.time() - waiting.pop(job) for job in list(waiting) if job in ids)

    waiting: dict[str, float] = {}
    window.jobs.view.verticalScrollBar().setValue(0)
    window.context.session.on_events.append(told)
    window.context.jobs.changed.connect(painted)
    for _ in range(_NEWS):
        await client.submit(submission('Executable = "/bin/true";', ""))
        await asyncio.sleep(0.3)
    window.context.session.on_events.remove(told)
    window.context.jobs.changed.disconnect(painted)
    if len(late) < _NEWS:
        raise RuntimeError(f"only {len(late)} events were painted")
    return Figure("event to the painted row, worst", round(max(late) * 1000, 1), "ms", at_most=200)


async def batches(window: Any, gaps: Gaps) -> list[Figure]:
    """The same jobs as lines of batches with 10,000 jobs each: in the table, selected, and as a page."""
    from app.inspector.batch.page import BatchPage

    rows, pane = window.context.jobs, window.jobs
    lines = pane.table.view
    gaps.reset()
    lines.folding = True
    for column in ("runtime", "submitted"):
        lines.sort = column
        await lines.rebuild()
    await _changes(rows, _BATCH_SECONDS)
    table = gaps.figure("longest block with batches of 10,000")
    batch = max(rows.of_batch, key=lambda name: len(rows.of_batch[name]))
    gaps.reset()
    pane.view.selectRow(lines.line_of_batch(batch))
    await _changes(rows, _BATCH_SECONDS)
    chosen = gaps.figure("the same, one of them selected")
    gaps.reset()
    window.context.show_batch(batch)
    page = window.findChild(BatchPage)
    await _changes(rows, _BATCH_SECONDS)
    if len(page.ids) < _CALL:
        raise RuntimeError(f"the page shows {len(page.ids)} jobs")
    opened = gaps.figure("longest block with its page open")
    return [table, chosen, opened]


async def _changes(rows: Any, seconds: float) -> None:
    """Change 1,000 rows a second, as an update of the event stream does."""
    begin, sent = time.perf_counter(), 0
    while (spent := time.perf_counter() - begin) < seconds:
        wanted = int(spent * _RATE) - sent
        if wanted:
            _change(rows, sent, wanted, 0)
            sent += wanted
        await asyncio.sleep(0.005)


def _resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError("the kernel does not say how much memory the desktop has")
