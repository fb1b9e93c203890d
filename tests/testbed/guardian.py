"""Ends what belongs to a folder as soon as the process that asked for it is gone, however it went."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.running import end_all

_ROOT = Path(__file__).resolve().parents[2]
guarded: dict[Path, int] = {}
"""Each folder that a guardian of this process watches over now to the guardian's pid."""


class Guardian:
    """A process that waits for the end of this one, and then kills all that belongs to a folder.

    A process belongs to it whose command line, environment or working directory names the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # The folder is told through the pipe: on the command line it would make the guardian its own prey.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.testbed.guardian"],
            stdin=subprocess.PIPE,
            cwd=_ROOT,
            text=True,
            start_new_session=True,  # a signal to the group of the tests is not for it
        )
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder}\n")
        self._process.stdin.flush()
        guarded[folder] = self._process.pid

    def close(self) -> None:
        """Kill all that belongs to the folder now."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        end_all(self._folder)
        guarded.pop(self._folder, None)


if __name__ == "__main__":
    watched = Path(sys.stdin.readline().rstrip("\n"))
    sys.stdin.read()
    if watched.is_absolute():
        end_all(watched)
