"""The desktop as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from app.main import arguments, binding_keeps_none

_CLOSE_SOON = """
import sys
import app.main as program
from PySide6.QtCore import QTimer
build = program.build
def built(app, options):
    window = build(app, options)
    window.painted.connect(lambda: QTimer.singleShot(300, window.close))
    return window
program.build = built
sys.exit(program.main([]))
"""


def test_closing_the_window_ends_the_program_without_a_complaint(broker: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", _CLOSE_SOON], capture_output=True, text=True, timeout=120)
    complaints = [line for line in ended.stderr.splitlines() if "plugin does not support" not in line]
    assert (ended.returncode, complaints) == (0, [])


def test_a_picture_of_the_window_is_saved(broker: Path, tmp_path: Path) -> None:
    picture = tmp_path / "desk.png"
    command = [
        sys.executable,
        "-m",
        "app.main",
        "--screenshot",
        str(picture),
        "--size",
        "1000x700",
        "--theme",
        "dark",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ)
    assert ended.returncode == 0, ended.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_this_binding_keeps_its_references() -> None:
    assert binding_keeps_none()


def test_options_of_the_desktop() -> None:
    options = arguments(["--state-dir", "x", "a.jdl", "--theme", "dark"])
    assert (options.state_dir, options.files, options.theme) == (Path("x"), [Path("a.jdl")], "dark")
