"""Link CPython of Debian anew, against glibc 2.28 and with a start of our own (launcher.c)."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = "x86_64-linux-gnu.2.28"
OWN = ("launcher", "newer_glibc")
CTYPES = ("_ctypes", "callbacks", "callproc", "stgdict", "cfield")
"""Sources of the one module that Debian's library lacks and that is not to be had for glibc 2.28."""
NOT_LINKED = (
    "config",
    "pyexpat",
    "_elementtree",
    "spwdmodule",
    "syslogmodule",
    "cmathmodule",
    "_csv",
    "_opcode",
)
"""Objects of Debian's library that stay out: its list of modules, and what is not on launcher.c's list."""


def linked(debian: Path, zig: Path) -> bytes:
    """The program; `debian` holds unpacked packages and sources. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as work:
        return _Linker(debian, zig, Path(work)).program()


class _Linker:
    def __init__(self, debian: Path, zig: Path, work: Path) -> None:
        self._usr, self._sources = debian / "usr", debian / "python" / "Modules" / "_ctypes"
        self._zig, self._work = zig, work

    def program(self) -> bytes:
        options = ["-w", "-DPy_BUILD_CORE_MODULE"]
        options += [f"-DHAVE_FFI_{one}=1" for one in ("PREP_CIF_VAR", "PREP_CLOSURE_LOC", "CLOSURE_ALLOC")]
        objects = [self._compiled(self._sources / f"{name}.c", *options) for name in CTYPES]
        objects += [self._compiled(HERE / f"{name}.c", "-Wall", "-Wextra", "-Werror") for name in OWN]
        archives = [str(self._usr / "lib/x86_64-linux-gnu" / name) for name in ("libffi_pic.a", "libz.a")]
        self._run(
            *("cc", "-target", TARGET, "-pie", "-s", "-rdynamic", "-Wl,--build-id=none", "-o", "program"),
            *("-Wl,--whole-archive", self._library(), "-Wl,--no-whole-archive", *objects, *archives),
            *("-ldl", "-lpthread", "-lm", "-lutil"),
        )
        return (self._work / "program").read_bytes()

    def _library(self) -> str:
        name = "libpython3.11-pic.a"
        found = self._usr / "lib/python3.11/config-3.11-x86_64-linux-gnu" / name
        (self._work / name).write_bytes(found.read_bytes())
        self._run("ar", "d", name, *(f"{one}.o" for one in NOT_LINKED))
        return name

    def _compiled(self, source: Path, *options: str) -> str:
        folders = ("python3.11", "python3.11/internal", "", "x86_64-linux-gnu")
        self._run(
            *("cc", "-target", TARGET, "-O2", "-fPIC", "-fno-sanitize=all", "-DNDEBUG", "-fwrapv", *options),
            *(f"-isystem{self._usr / 'include' / folder}" for folder in folders),
            *("-c", str(source), "-o", f"{source.stem}.o"),
        )
        return f"{source.stem}.o"

    def _run(self, *words: str) -> None:
        subprocess.run([str(self._zig), *words], cwd=self._work, check=True)
