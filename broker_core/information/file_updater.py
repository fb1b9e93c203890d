"""The updater that reads a file of resources, and reads it again as soon as it has changed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from broker_core.errors import BadRequest
from broker_core.information.resource_file import FORMATS
from broker_core.information.source_process import ask_in_process
from broker_core.information.updater import SourceAnswer, SourceSettings

LOOK = 2.0
"""Seconds between two looks at whether the file has changed."""
KEPT = 1000
"""Resources up to which an unchanged file's answer is kept; more are read again, since they take memory."""
_State = tuple[int, int, int]


class FileUpdater:
    """A static file, TOML or LDIF."""

    def __init__(self, settings: SourceSettings) -> None:
        """Raises BadRequest for a file of no known format; it need not exist yet."""
        self.name, self.kind = settings.name, settings.kind
        self.interval, self.address = settings.interval, settings.address
        self._path = Path(settings.address).expanduser()
        self._seen: _State | None = None
        self._kept: SourceAnswer | None = None
        if self._path.suffix.lower() not in FORMATS:
            raise BadRequest(
                f"The source {settings.name} needs a path to a file of a known format.",
                place=f"sources.{settings.name}",
                remedy="Name a file that ends with " + " or ".join(FORMATS) + ".",
            )

    async def fetch(self) -> SourceAnswer:
        """What the file says now; raises SourceFailed if it cannot be read."""
        state = self._state()
        if self._kept is not None and state == self._seen:
            return self._kept
        self._seen, self._kept = state, None
        answer = await ask_in_process("file", path=str(self._path))
        self._kept = answer if len(answer.facts) <= KEPT else None
        return answer

    async def changed(self) -> None:
        """Return when the file is not the one that was read last."""
        while self._state() == self._seen:  # noqa: ASYNC110 - the file system tells nobody
            await asyncio.sleep(LOOK)

    def _state(self) -> _State | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
