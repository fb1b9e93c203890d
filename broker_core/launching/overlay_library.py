"""The library by which programs are carried where nodes give them no namespace (`packaging/preload`)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from broker_core.errors import CrossDeskError
from broker_core.sites.contract import InputFile
from broker_core.system.built_files import built_paths, why_missing
from broker_core.worker.scripts.overlay import LIBRARY

BUILT_LIBRARY = "crossdesk-overlay-x86_64-linux.so"
"""Its file on the broker's machine; its name tells where it runs."""


class NoOverlayLibrary(CrossDeskError):
    """A job needs the library, and the broker has none."""

    code = "no_overlay_library"


class OverlayLibrary:
    """Where the broker has it."""

    def __init__(self, setting: str) -> None:
        """`setting`: its file by the owner's word; empty: as installed, or as built in a checkout."""
        self._setting = setting

    def file(self) -> InputFile:
        """It as a file for a component, under the name by which nodes know it; raises NoOverlayLibrary."""
        paths = (Path(self._setting).expanduser(),) if self._setting else built_paths(BUILT_LIBRARY)
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise self._missing()
        return InputFile(LIBRARY, path, False, hashlib.sha256(path.read_bytes()).hexdigest())

    def _missing(self) -> NoOverlayLibrary:
        why = why_missing(BUILT_LIBRARY)
        if self._setting:
            why = f"overlay_library in broker.toml names {self._setting}, which is not there"
        return NoOverlayLibrary(
            "A site of the job gives programs no network namespace, and the library that takes its place is "
            f"missing at the broker{f': {why}' if why else ''}.",
            remedy="Build it there with sh packaging/agent.sh, or name it as overlay_library in broker.toml.",
        )
