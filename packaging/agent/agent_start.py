"""The start of the agent inside its own file: where modules come from, and what is run.

Everything is in zip archives: this program itself, and a second file with parts for displays. Pure modules
are imported from there; extension modules are loaded from memory, so that nothing is unpacked on the node.
Only where a node forbids that do they pass through a temporary file, which is removed once it is loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import zipimport
from collections.abc import Iterator, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from types import ModuleType
from typing import ClassVar

import agent_contents

AGENT = "broker_core.worker.start"
WITH, CHECK = "--with", "--check"
DISPLAY = "crossdesk-agent-display-x86_64-linux"
"""Name of the second file beside this one; where a site keeps programs, 16 digits of its hash follow."""


class Archive(zipimport.zipimporter):
    """A zip archive, or a folder in it, with extension modules too: `name.so` for every kind of them."""

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module is; None if not here."""
        found = super().find_spec(fullname, target)
        if found is not None:
            return found
        try:
            content = self.get_data(f"{self.prefix}{fullname.rpartition('.')[2]}.so")
        except OSError:
            return None
        return spec_from_loader(fullname, Library(fullname, content))


class Library(ExtensionFileLoader):
    """An extension module whose file is in memory."""

    _loaded: ClassVar[int] = 0

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(name, name)
        self._content = content

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Load it; raises ImportError with what each place said."""
        said = []
        for place in (_memory, *map(_file, _folders())):
            try:
                with place(self._content) as path:
                    # The loader knows libraries by name: two with the same one would be one to it.
                    Library._loaded += 1
                    self.path = spec.origin = path.replace("/", "/" + "./" * Library._loaded, 1)
                    module = super().create_module(spec)
                    self._content = b""
                    return module
            except (OSError, ImportError) as error:
                said.append(str(error))
        raise ImportError(f"{self.name} cannot be loaded on this node: {'; '.join(said)}", name=self.name)


@contextlib.contextmanager
def _memory(content: bytes) -> Iterator[str]:
    file = os.memfd_create("crossdesk-agent")
    with open(file, "wb", buffering=0) as writing:
        _write(writing.fileno(), content)
        yield f"/proc/self/fd/{file}"


def _file(folder: str) -> contextlib.AbstractContextManager[str]:
    import tempfile  # seldom needed, so it does not slow down every start

    @contextlib.contextmanager
    def place(content: bytes) -> Iterator[str]:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".crossdesk-agent-") as writing:
            _write(writing.fileno(), content)
            yield writing.name

    return place


def _write(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]


def _folders() -> list[str]:
    return [folder for folder in (os.environ.get("TMPDIR", ""), "/tmp", "/dev/shm", os.getcwd()) if folder]


class Display:
    """Finds modules of the second file, which is opened when the first of them is wanted."""

    def __init__(self, given: str) -> None:
        self._given = given
        self._open = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's place; raises ImportError where the file is missing or another one."""
        if self._open or fullname not in agent_contents.DISPLAY_MODULES:
            return None
        sys.path.append(self.checked())
        self._open = True
        return PathFinder.find_spec(fullname)

    def checked(self) -> str:
        """The file, whose hash is the one that this program was built with."""
        import hashlib

        wanted = agent_contents.DISPLAY_SHA256
        folder = os.path.dirname(os.path.realpath(sys.executable))
        beside = [os.path.join(folder, name) for name in (DISPLAY, f"{DISPLAY}.{wanted[:16]}")]
        places = [self._given] if self._given else beside
        for file in places:
            if os.path.isfile(file):
                with open(file, "rb") as reading:
                    found = hashlib.file_digest(reading, "sha256").hexdigest()
                if found != wanted:
                    raise ImportError(f"{file} is not of this agent: its SHA-256 is {found}, not {wanted}")
                return os.path.abspath(file)
        raise ImportError(f"parts for displays are missing: there is no {' and no '.join(places)}")


def main() -> None:
    """Run the agent, or say what is in this file and whether it works on this node."""
    sys.path_hooks.insert(0, Archive)
    sys.path_importer_cache.clear()
    words = sys.argv[1:]
    display = Display(words[1] if words[:1] == [WITH] and len(words) > 1 else "")
    sys.meta_path.append(display)
    if words[:1] == [WITH]:
        words = words[2:]
    if words == [CHECK]:
        sys.stdout.write(_check(display))
    else:
        import runpy

        sys.argv[1:] = words
        runpy.run_module(AGENT, run_name="__main__", alter_sys=True)


def _check(display: Display) -> str:
    """Load every part; returns a JSON document."""
    import json

    for name in agent_contents.MODULES:
        importlib.import_module(name)
    said = {"parts": agent_contents.PARTS, "python": sys.version.split()[0], "display": ""}
    try:
        display.checked()
    except ImportError as error:
        said["display"] = str(error)
    else:
        for name in agent_contents.DISPLAY_MODULES:
            importlib.import_module(name)
        said["display"] = _screen() if os.environ.get("DISPLAY") else "loaded"
    return json.dumps(said, indent=1) + "\n"


def _screen() -> str:
    """What the display of the environment gives; raises what the libraries raise."""
    from mss import MSS
    from Xlib.display import Display as Connection

    with MSS() as camera, contextlib.closing(Connection()) as connection:
        picture = camera.grab(camera.monitors[0])
        keys = "XTEST" if connection.query_extension("XTEST") else "no XTEST"
    return f"{picture.width}x{picture.height}, {keys}"
