"""A killed broker: until the desktop has started another one and shows its jobs as they are."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from typing import Any

from tests.benchmarks.broker import HELD, running, submission
from tests.benchmarks.figure import Figure
from tests.waiting import eventually

JOBS, _TIMES = 1000, 5


def measure() -> list[Figure]:
    """The median of several kills, with a real broker and a window without a screen."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    import qasync
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication(["bench"])
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    with loop:
        return loop.run_until_complete(_measure(app))


async def _measure(app: Any) -> list[Figure]:
    from app.main import arguments, build

    async with running() as (_, client):
        values = [str(number) for number in range(JOBS)]
        await client.submit(submission('Executable = "/bin/echo"; Arguments = "_PARAM_";', HELD, values))
        window = build(app, arguments(["--state-dir", os.environ["CROSSDESK_STATE_DIR"]]))
        window.show()
        window.build_deferred()
        try:
            window.context.begin()
            await eventually(lambda: len(window.context.jobs) == JOBS, what="all jobs are shown")
            spent = [await _killed(window, number) for number in range(_TIMES)]
        finally:
            await window.context.close()
            window.close()
    what = f"from the broker's death to a desktop that is up to date, {JOBS} jobs"
    return [Figure(what, round(statistics.median(spent), 3), "s", at_most=2.0)]


async def _killed(window: Any, number: int) -> float:
    """Seconds until what was recorded just before the death, and not shown yet, is shown."""
    context = window.context
    info = await context.client.info()
    await context.client.submit(submission(hold=HELD))
    os.kill(info.pid, signal.SIGKILL)
    begin = time.perf_counter()
    await eventually(lambda: not context.link.up, what="the death is noticed")
    wanted = JOBS + number + 1
    await eventually(
        lambda: context.link.up and context.jobs.complete and len(context.jobs) == wanted,
        what="the desktop is up to date",
    )
    return time.perf_counter() - begin
