"""The tasks whose clicks are counted, once more on an X server with a window manager."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.end2end.screen import Screen

ROOT = Path(__file__).parents[2]
TASKS = ("tests/app/shell/test_ten_tasks.py", "tests/app/shell/test_first_clicks.py")


def test_no_task_takes_more_clicks_on_a_real_screen(tmp_path: Path) -> None:
    screen = Screen()
    try:
        environment = {
            name: value for name, value in screen.environment.items() if not name.startswith("PYTEST_")
        }
        words = ["-q", "-n0", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "made")]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, *TASKS],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        screen.close()
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
    assert not {"failed", "skipped", "deselected"} & set(done.stdout.splitlines()[-1].split())
