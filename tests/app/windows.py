"""A real main window in a test: its own loop, preferences and state directory.

A scenario is one coroutine, run by one `run_until_complete`: qasync handles events once more after that
call, outside of the loop, where the tasks of the window cannot go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.main import arguments, build
from app.shell.event_loop import DesktopLoop
from app.shell.window import MainWindow
from app.welcome.running import run_sample
from tests.waiting import eventually

Scenario = Callable[["Stage"], Awaitable[None]]


class Stage:
    """A window for a scenario."""

    def __init__(self, window: MainWindow) -> None:
        self.window, self.context = window, window.context
        self.leftovers: list[str] = []
        """Names of tasks that were not ended by closing the window."""

    async def ready(self) -> None:
        """Wait until all rows are there and shown."""
        rows, view = self.context.jobs, self.window.jobs.table.view
        await eventually(lambda: rows.complete and not view.working, what="rows are loaded")

    async def finished(self, sample: str) -> str:
        """Run a sample from the window and wait for its end; returns the id of its first job."""
        ids = await run_sample(self.context, sample)
        await eventually(lambda: all(self.ended(job) for job in ids), 90, f"{sample} ends")
        return ids[0]

    def ended(self, job: str) -> bool:
        """True once the desk shows that a job has ended."""
        row = self.context.jobs.row(job)
        return row is not None and row["ended"] is not None


async def outside(act: Callable[[], object]) -> None:
    """Do what handles events while it lasts, such as `QTest.mouseMove`, outside of the running task.

    A task whose turn comes inside of another one never goes on.
    """
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def run() -> None:
        try:
            act()
        finally:
            done.set_result(None)

    loop.call_soon(run)
    await done


async def turns(number: int = 30) -> None:
    """Let everything that is due happen."""
    for _ in range(number):
        await asyncio.sleep(0.002)


def play(
    app: QApplication,
    state_dir: Path,
    scenario: Scenario,
    *,
    connect: bool = True,
    options: tuple[str, ...] = (),
) -> Stage:
    """Run a scenario in a shown and furnished window; closes it and ends what is left of it."""
    loop = DesktopLoop(app)
    asyncio.set_event_loop(loop)
    window = build(app, arguments(["--state-dir", str(state_dir), *options]))
    stage = Stage(window)
    try:
        loop.run_until_complete(_play(stage, scenario, connect))
    finally:
        window.close()
        window.deleteLater()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        app.processEvents()
        loop.close()
    return stage


async def _play(stage: Stage, scenario: Scenario, connect: bool) -> None:
    stage.window.show()
    stage.window.build_deferred()
    if connect:
        stage.context.begin()
    try:
        await scenario(stage)
    finally:
        await stage.context.close()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        stage.leftovers = [task.get_name() for task in left]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
