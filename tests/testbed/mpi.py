"""MPI as it comes from the Python registry, each kind in an environment of its own, with a program that checks itself.

Both wheels install the same files, so that they cannot be beside each other. The environments are made once for
all tests of a machine, and again where the account's cache was cleared.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

KINDS = ("mpich", "openmpi")
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
    """That kind of MPI, made by the first who asks; takes some seconds then."""
    base = Path(tempfile.gettempdir()) / f"crossdesk-test-mpi-{os.getuid()}"
    base.mkdir(mode=0o700, exist_ok=True)
    assert base.stat().st_uid == os.getuid()
    found = Installation(kind, base / kind)
    with (base / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.program.exists():
            _make(found)
    return found


def _make(found: Installation) -> None:
    python = found.prefix / "bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--clear", found.prefix], check=True)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", found.kind],
        check=True,
        capture_output=True,
    )
    made = found.program.with_suffix(".part")
    subprocess.run([found.prefix / "bin/mpicc", "-O1", "-o", made, _SOURCE, "-lm"], check=True)
    made.rename(found.program)
