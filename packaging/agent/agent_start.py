"""The start of the agent inside its own file: where modules come from, and what is run.

Everything is in a zip archive, which is this program itself. Pure modules are imported from there; extension
modules are loaded from memory, so that nothing is unpacked on the node. Only where a node forbids that do
they pass through a temporary file, which is removed once it is loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import zipimport
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import ClassVar

import agent_contents

AGENT = "broker_core.worker.start"
CHECK = "--check"


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


def main() -> None:
    """Run the agent, or say what is in this file and whether it works on this node."""
    sys.path_hooks.insert(0, Archive)
    sys.path_importer_cache.clear()
    if sys.argv[1:] == [CHECK]:
        sys.stdout.write(_check())
    else:
        import runpy

        runpy.run_module(AGENT, run_name="__main__", alter_sys=True)


def _check() -> str:
    """Load every part; returns a JSON document."""
    import json

    for name in agent_contents.MODULES:
        importlib.import_module(name)
    found = {"parts": agent_contents.PARTS, "python": sys.version.split()[0], "video": _video()}
    return json.dumps(found, indent=1) + "\n"


def _video() -> str:
    """What a screen is sent as: video, or why it is not."""
    from broker_core.worker.sub_channels.screen import video_libraries

    try:
        video_libraries.load()
    except video_libraries.NoVideo as error:
        return str(error)
    return "VP9"
