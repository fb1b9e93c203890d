"""Build the agent with its own interpreter: `build.py DEBIAN WHEELS OUTPUT`, run by packaging/agent.sh.

DEBIAN holds the unpacked packages and sources of CPython, WHEELS those of Python. It runs with the very
CPython whose modules are packed. The same inputs give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import re
import sys
import zipfile
from collections.abc import Iterable
from importlib.util import MAGIC_NUMBER
from modulefinder import ModuleFinder
from pathlib import Path

from interpreter import linked
from library import compiled_library

HERE = Path(__file__).resolve().parent
AGENT = "crossdesk-agent-x86_64-linux"
OVERLAY = "crossdesk-overlay-x86_64-linux.so"
"""Library that carries jobs over several sites on nodes without network namespaces."""
PRELOAD = HERE.parent / "preload"
ENTRY = "broker_core.worker.start"
SOURCES = "sources.json"
"""In the agent: this project's own files that it was made of, with their SHA-256. Brokers compare them."""
PACKAGES = ("asyncssh", "cryptography", "encodings")
"""Packed whole, because they import parts of themselves by name, or from compiled code."""
VIDEO, NEEDED = "video", ("libdrm", "libvpl", "libavutil", "libswscale", "libvpx")
"""Folder in the agent with libraries of PyAV's wheel, which video_libraries.py of broker_core loads."""
VIDEO_LICENCES = """These libraries in video/ are those of the wheel of PyAV (https://pypi.org/project/av).
libavutil, libswscale: LGPL-3.0-or-later, https://ffmpeg.org
libvpx: BSD-3-Clause, https://www.webmproject.org
libvpl: MIT, https://github.com/intel/libvpl
libdrm: MIT, https://dri.freedesktop.org
"""
LIBRARIES = ("_asyncio", "_contextvars", "_json", "_queue", "_typing", "mmap", "resource", "termios")
"""CPython's extension modules that are packed: they need glibc alone, and none of its newer functions."""
LEFT_OUT = (
    *("_bootlocale", "_decimal", "bz2", "curses", "distutils", "doctest", "ensurepip", "lib2to3", "lzma"),
    *("multiprocessing", "pdb", "pip", "pydoc", "readline", "setuptools", "sqlite3", "ssl", "test"),
    *("tkinter", "unittest", "xml", "email", "http", "urllib.request", "concurrent.futures.process"),
    *("asyncssh.agent_win32", "asyncssh.gss_win32", "asyncio.windows_events", "asyncio.windows_utils"),
    *("encodings.mbcs", "encodings.oem"),
)
"""Never needed: other systems, tools of developers, and what is imported only if it is there."""
_EAST_ASIAN = re.compile(r"encodings\.(big5|cp932|cp9[45]|euc_|gb|hz|iso2022|johab|shift_jis).*")
"""Encodings that need large tables; the agent writes and reads UTF-8."""


class Builder:
    """One build; every path is given."""

    def __init__(self, debian: Path, wheels: Path, output: Path) -> None:
        self.debian, self.wheels, self.output = debian, wheels, output
        self.library = debian / "usr/lib/python3.11"
        self.places = (HERE.parents[1], HERE, wheels, self.library, self.library / "lib-dynload")
        """Where modules are looked for."""

    def run(self) -> None:
        """Write the files."""
        zig = self.wheels / "ziglang/zig"
        _write(self.output / OVERLAY, compiled_library(zig, PRELOAD / "overlay_preload.c"))
        agent = self.closure()
        entries = self.archived(agent) | self.video() | self.licences()
        entries["agent_contents.pyc"] = _compiled(self.contents(agent).encode(), "agent_contents.py")
        entries[SOURCES] = self.sources(agent)
        _archive(self.output / AGENT, linked(self.debian, zig), entries)

    def closure(self) -> dict[str, Path]:
        """Every module that the agent imports, now or later, with its file."""
        finder = ModuleFinder([str(place) for place in self.places], excludes=list(LEFT_OUT))
        for name in (ENTRY, "agent_start", "_cffi_backend", *self.files_of(PACKAGES)):
            finder.import_hook(name)
        found = {name: Path(one.__file__) for name, one in finder.modules.items() if one.__file__}
        return {name: path for name, path in sorted(found.items()) if self.packed(name, path)}

    def packed(self, name: str, path: Path) -> bool:
        """False for extension modules of CPython that the agent does without, and for large encodings."""
        return name in LIBRARIES or (path.parent.name != "lib-dynload" and not _EAST_ASIAN.fullmatch(name))

    def files_of(self, packages: Iterable[str]) -> dict[str, Path]:
        """Every module of packages."""
        found = {}
        for package in packages:
            place = next(place for place in self.places if any(place.glob(f"{package}*")))
            top = place / package
            for path in sorted([*top.rglob("*.py"), *top.rglob("*.so"), *place.glob(f"{package}.py")]):
                words = (*path.relative_to(place).parts[:-1], path.name.partition(".")[0])
                found[".".join(words).removesuffix(".__init__")] = path
        return {name: path for name, path in found.items() if name not in LEFT_OUT}

    def archived(self, modules: dict[str, Path]) -> dict[str, bytes]:
        """What an archive holds of modules: names in it, and contents."""
        entries = {}
        for name, path in modules.items():
            place = name.replace(".", "/")
            if path.suffix == ".so":
                entries[f"{place}.so"] = path.read_bytes()
            else:
                place += "/__init__" if path.stem == "__init__" else ""
                entries[f"{place}.pyc"] = _compiled(path.read_bytes(), f"{place}.py")
        return entries

    def video(self) -> dict[str, bytes]:
        """The libraries that make video."""
        folder = self.wheels / "av.libs"
        return {f"{VIDEO}/{name}.so": next(folder.glob(f"{name}-*")).read_bytes() for name in NEEDED}

    def licences(self) -> dict[str, bytes]:
        """The texts under which the parts may be passed on."""
        found = {
            f"licences/{path.parent.name}": path for path in self.debian.glob("usr/share/doc/*/copyright")
        }
        for folder in self.wheels.glob("*.dist-info"):
            if not folder.name.startswith("ziglang"):
                texts = (path for path in folder.rglob("LICENSE*") if path.is_file())
                found |= {f"licences/{folder.name.partition('-')[0]}-{path.name}": path for path in texts}
        texts = {name: path.read_bytes() for name, path in found.items()}
        return texts | {"licences/video": VIDEO_LICENCES.encode()}

    def contents(self, agent: dict[str, Path]) -> str:
        """Source of the module that tells what is where."""
        own = (
            name for name, path in agent.items() if path.suffix == ".so" or name.startswith("broker_core.")
        )
        values = {
            "PARTS": self.parts(),
            "MODULES": ("asyncssh", *own),
        }
        return "".join(f"{name} = {value!r}\n" for name, value in values.items())

    def sources(self, agent: dict[str, Path]) -> bytes:
        """Names and hashes of what is the project's own."""
        root = HERE.parents[1]
        beside = (*HERE.iterdir(), *PRELOAD.iterdir())  # that library is older when the agent is
        made_with = (path for path in beside if path.suffix in (".py", ".c", ".lock"))
        packed = (path for path in agent.values() if path.is_relative_to(root / "broker_core"))
        paths = {HERE.parent / "agent.sh", *made_with, *packed}
        found = {
            path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths
        }
        return json.dumps(found, sort_keys=True).encode()

    def parts(self) -> dict[str, str]:
        """Names and versions of all that is inside, and of the compiler."""
        found: dict[str, str] = json.loads((self.debian / "versions.json").read_text())
        for folder in sorted(self.wheels.glob("*.dist-info")):
            name, _, version = folder.name.removesuffix(".dist-info").partition("-")
            found[name] = version
        return found


def _compiled(source: bytes, name: str) -> bytes:
    """The content of a .pyc that is never compared with its source."""
    code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    return MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


def _compression(name: str) -> int:
    """Somebody waits for what each agent loads: it is not unpacked. Video is loaded where it is asked for."""
    return zipfile.ZIP_DEFLATED if name.startswith((VIDEO, "licences")) else zipfile.ZIP_STORED


def _write(file: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    part = file.with_name(f"{file.name}.part{os.getpid()}")
    part.write_bytes(content)
    part.replace(file)


def _archive(file: Path, head: bytes, entries: dict[str, bytes]) -> None:
    """Write a zip archive behind the bytes of a program, whole or not at all."""
    part = file.with_name(f"{file.name}.part{os.getpid()}")
    part.write_bytes(head)
    with zipfile.ZipFile(part, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(entries):
            archive.writestr(zipfile.ZipInfo(name), entries[name], _compression(name))
    part.chmod(0o755)
    part.replace(file)


if __name__ == "__main__":
    Builder(*(Path(word).resolve() for word in sys.argv[1:])).run()
