"""Calling the program as a shell does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Said:
    """What a call left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The result as JSON."""
        return json.loads(self.out)


def command(*words: str) -> list[str]:
    """The words that start the program."""
    return [sys.executable, "-m", "app.launch", *words]


def crossdesk(*words: str, cwd: Path | None = None, text: str | None = None, **environment: str) -> Said:
    """Run `crossdesk words...` and wait for it."""
    told = subprocess.run(
        command(*words),
        cwd=cwd,
        input=text,
        stdin=None if text is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )
    return Said(told.returncode, told.stdout, told.stderr)
