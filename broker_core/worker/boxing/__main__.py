"""Runs a program in a box of Landlock: `boxing [read=PATH | write=PATH]... -- DIRECTORY PROGRAM [WORD]...`.

It starts in DIRECTORY/job, to which it may write. Without words it says why no such box can be made here, or
nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from broker_core.worker.boxing import landlock
from broker_core.worker.boxing.box import Box

FAILED = 125
"""Exit code where no box can be made, or the program cannot be started in it."""


def main(words: Sequence[str]) -> int:
    """Become the program; returns only where that cannot be, with `FAILED`."""
    if not words:
        print(landlock.trouble(), end="")
        return 0
    split = words.index("--")
    options, directory, command = words[:split], words[split + 1], words[split + 2 :]
    try:
        box = Box(Path(directory, "job").resolve(), _named(options, "read"), _named(options, "write"))
        os.chdir(box.directory)
        landlock.enter(box)
        os.execvp(command[0], list(command))  # noqa: S606 - no shell is meant
    except OSError as error:
        print(f"box: {command[0]} cannot be started in a box: {error}", file=sys.stderr)
    return FAILED


def _named(words: Sequence[str], name: str) -> tuple[Path, ...]:
    paths = [Path(word.removeprefix(f"{name}=")).resolve() for word in words if word.startswith(f"{name}=")]
    return tuple(path for path in paths if path.exists())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
