"""The files of the project, as git knows them or as they lie in an unpacked copy."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked() -> list[Path]:
    """Paths of the project's files, relative to its root; files not yet added count, ignored ones do not."""
    words = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    told = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    return [Path(name) for name in told.split("\0") if name and (ROOT / name).is_file()]


def python_files(*folders: str) -> list[Path]:
    """Python files of the given top folders, without the sample jobs."""
    return [
        path
        for path in tracked()
        if path.suffix == ".py" and path.parts[0] in folders and path.parts[:2] != ("resources", "samples")
    ]
