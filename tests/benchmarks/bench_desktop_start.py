"""From the start of the process to the first painted main window."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time

from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.benchmarks.meanwhile import Meanwhile

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


def measure(kind: type[Meanwhile] = Meanwhile) -> list[Figure]:
    """The median of several starts; the first one, which fills the caches, is left out."""
    return asyncio.run(_measure(kind))


async def _measure(kind: type[Meanwhile]) -> list[Figure]:
    async with running() as (_, client), kind(client) as meanwhile:
        seconds = [await asyncio.to_thread(_start) for _ in range(RUNS + 1)][1:]
    median = round(statistics.median(seconds), 3)
    return meanwhile.named([Figure("process start to the first painted window", median, "s", at_most=1.0)])


def _start() -> float:
    begin = time.time()
    told = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        env=_with_bytecode() | {"QT_QPA_PLATFORM": "offscreen"},
        timeout=60,
    )
    return float(told.stdout) - begin


def _with_bytecode() -> dict[str, str]:
    """The environment with compiled modules kept, as where the program is installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": os.environ["XDG_CACHE_HOME"]}
