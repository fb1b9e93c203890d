"""What programs publish: what it costs them, and what drawing it live costs the window."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker_core.worker.script import publish_path
from tests.benchmarks.figure import Figure

CURVES, POINTS, UPDATES = 10, 100_000, 30
_WORK = """
import hashlib, sys, time
import crossdesk_publish as publish
block = bytes(1 << 20)
written = open("written", "wb")
begun = time.process_time()
for number in range(1000):
    for _ in range(12):
        hashlib.sha256(block).digest()
    if sys.argv[1] == "publish":
        publish.array("block", block)
    elif sys.argv[1] == "write":
        written.write(block)
print(time.process_time() - begun)
"""
"""A program that works some 10 ms for each MiB that it publishes, or writes to a file itself: 1 GB in all."""


def measure() -> list[Figure]:
    """The program's own processor time, with and without publishing; the window's thread at 30 updates/s."""
    return [*_slowed(), _drawn()]


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _slowed() -> list[Figure]:
    """Of a virtual machine that gives memory back, most of it is the price of new pages: of both kinds."""
    times = {"publish": [], "write": [], "rest": []}  # type: dict[str, list[float]]
    for _ in range(2):
        for kind, taken in times.items():
            with _folder() as folder:
                given = {"CROSSDESK_DATA": str(folder / "data"), "PYTHONPATH": str(publish_path())}
                words = [sys.executable, "-c", _WORK, kind]
                own = os.environ | given
                done = subprocess.run(words, env=own, cwd=folder, capture_output=True, check=True)
                taken.append(float(done.stdout))
                assert kind != "publish" or (folder / "data").stat().st_size > 1000 << 20
    more = {kind: round(100 * (min(times[kind]) / min(times["rest"]) - 1), 1) for kind in times}
    return [
        Figure("publishing 1 GB slows the program by", more["publish"], "%", at_most=5.0),
        Figure("writing it to a file itself would by", more["write"], "%"),
    ]


def _drawn() -> Figure:
    """Each update adds points to all curves and draws them; a second's worth of the thread's time."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import numpy as np
    from PySide6.QtWidgets import QApplication

    from app.inspector.view.curve_data import RecordedRun
    from app.inspector.view.curves import CurvesView
    from app.theme.theme import Theme
    from app.theme.tokens import Mode
    from broker_core.jobs.published.recording import Curve, Recording
    from tests.app.inspector.recorded import TestContext

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    view = CurvesView(TestContext(Theme(app, Mode.DARK), None))  # type: ignore[arg-type]
    view.resize(1000, 600)
    view.show()
    recording, chance = Recording(), np.random.default_rng(1)
    for number in range(CURVES):
        curve = recording.curves.setdefault(f"curve {number}", Curve())
        curve.add(None, chance.normal(number, 1.0, POINTS).cumsum())
    runs = [RecordedRun("", recording)]
    view.show_runs(runs)
    app.processEvents()
    gc.collect()
    begun = time.thread_time()
    for _ in range(UPDATES):
        for curve in recording.curves.values():
            curve.add(None, chance.normal(0, 1.0, 100))
        view.show_runs(runs)
        app.processEvents()
    busy = time.thread_time() - begun
    view.close()
    return Figure("window busy: 10 curves of 100,000 points at 30 Hz", round(100 * busy), "%", at_most=50)
