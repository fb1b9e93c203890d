"""What the window's first painting needs is little: heavy libraries and other pages are loaded after it."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import sys
import app.main
import app.shell.window
print(*sorted(sys.modules))
"""
_LATE = ("app.console.view", "app.drops", "app.inspector.inspector", "app.sites.card", "numpy", "pyqtgraph",
         "pydantic", "broker_core.jdl.evaluation")  # fmt: skip


def test_the_window_is_painted_before_plots_consoles_and_pages_are_loaded() -> None:
    process = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    loaded = process.stdout.split()
    assert "app.jobs.pane" in loaded
    assert [name for name in loaded if name.startswith(_LATE)] == []
