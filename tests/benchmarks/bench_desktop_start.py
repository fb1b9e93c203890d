"""From the start of the process to the first painted main window."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from tests.benchmarks.figure import Figure

RUNS = 7
_PROGRAM = """
import sys, time
import app.main as program
options = program.arguments([])
async def live(window, options):
    import asyncio
    seen = asyncio.Event()
    window.painted.connect(seen.set)
    window.show()
    await seen.wait()
    sys.stdout.write(repr(time.time()))
    return 0
program.live = live
program._run(options)
"""


def measure() -> list[Figure]:
    """The median of several starts; the first one, which fills the caches, is left out."""
    seconds = [_start() for _ in range(RUNS + 1)][1:]
    return [
        Figure(
            "process start to the first painted window",
            round(statistics.median(seconds), 3),
            "s",
            at_most=1.0,
        )
    ]


def _start() -> float:
    begin = time.time()
    told = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        timeout=60,
    )
    return float(told.stdout) - begin
