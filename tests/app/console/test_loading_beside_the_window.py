"""What is imported in another thread finds all types of Qt made: a half made one ends the program."""

from __future__ import annotations

import subprocess
import sys

import pytest

_BEGIN = """
import asyncio, sys, threading
from PySide6.QtCore import QObject, QEventLoop
from PySide6.QtWidgets import QApplication
from app.widgets import qt_types
app = QApplication([])
assert qt_types.unmade(), "some are made later"
"""
_PLOT = """
from app.widgets.plots import deferred_plot
def load(name):
    print(threading.current_thread() is threading.main_thread(), qt_types.unmade())
    raise SystemExit
deferred_plot.import_module = load
asyncio.run(deferred_plot.make_history_plot(None, ()))
"""
_CONSOLE = """
from app.console import preload
loaded = threading.Event()
def load(key, pace):
    print(threading.current_thread() is threading.main_thread(), qt_types.unmade())
    loaded.set()
preload._load = load
asked = QObject()
preload.ConsolePreload(asked).asked()
while not loaded.is_set():
    app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
"""


@pytest.mark.parametrize("loading", [_PLOT, _CONSOLE], ids=["a plot", "consoles"])
def test_all_types_of_qt_are_made_before_another_thread_imports(loading: str) -> None:
    words = [sys.executable, "-c", _BEGIN + loading]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "False []\n", done.stderr
