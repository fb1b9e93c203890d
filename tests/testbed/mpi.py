"""MPI as wheels bring it, each kind in an environment of its own, with a program that checks itself.

Both wheels have files of the same names. `packaging/test.sh` makes the environments; who tests without it has
them made by the first test that needs them.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

KINDS = ("mpich", "openmpi")
ROOT = Path(__file__).parents[2]
_SOURCE = Path(__file__).with_name("ranks.c")


@dataclass(frozen=True, slots=True)
class Installation:
    """One kind of MPI."""

    kind: str
    prefix: Path

    @property
    def program(self) -> Path:
        """Of ranks.c."""
        return self.prefix / "ranks"

    @property
    def variables(self) -> tuple[tuple[str, str], ...]:
        """By which a job finds it at a site that has it outside of PATH."""
        return ((f"MPI_{self.kind.upper()}_PATH", str(self.prefix)),)


def installed(kind: str) -> Installation:
    """That kind of MPI with its program; takes some seconds where it has to be made."""
    found = Installation(kind, Path(sys.prefix) / kind)
    with Path(f"{found.prefix}.busy").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (found.prefix / "bin/mpiexec").exists():
            _install(found)
        if not found.program.exists() or found.program.stat().st_mtime < _SOURCE.stat().st_mtime:
            _compile(found)
    return found


def _install(found: Installation) -> None:
    python = found.prefix / "bin/python"
    words = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r"]
    subprocess.run([sys.executable, "-m", "venv", "--clear", found.prefix], check=True)
    subprocess.run(
        [python, *words, ROOT / f"packaging/mpi/{found.kind}.lock"], check=True, capture_output=True
    )


def _compile(found: Installation) -> None:
    made = found.program.with_suffix(".part")
    subprocess.run([found.prefix / "bin/mpicc", "-O1", "-o", made, _SOURCE, "-lm"], check=True)
    made.rename(found.program)
