"""Compile the library that carries programs where nodes give them no namespace, against glibc 2.17."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

TARGET = "x86_64-linux-gnu.2.17"


def compiled_library(zig: Path, source: Path) -> bytes:
    """Its content; the same sources give the same bytes. Raises CalledProcessError."""
    options = ["-O2", "-fPIC", "-fno-sanitize=all", "-Wall", "-Wextra", "-Werror"]
    with tempfile.TemporaryDirectory() as work:
        words = [str(zig), "cc", "-target", TARGET, "-shared", "-s", "-Wl,--build-id=none", *options]
        subprocess.run([*words, "-o", "library.so", str(source)], cwd=work, check=True)
        return (Path(work) / "library.so").read_bytes()
