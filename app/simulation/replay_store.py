"""The replays so far, kept over a restart of the desktop."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.simulation.comparison import Run
from broker_core.errors import CrossDeskError

log = logging.getLogger(__name__)
_NEEDED = frozenset({"trace", "policy", "queue", "summary", "sites", "curves"})
"""What a result must have to be shown."""


class ReplayStore:
    """One file with the replays of the page, newest first, written whole and atomically."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = asyncio.Lock()
        self._wanted: list[Run] = []

    async def load(self) -> list[Run]:
        """The replays of the last time; none where the file is not there or cannot be understood."""
        return await asyncio.to_thread(self._read)

    async def save(self, runs: Sequence[Run]) -> None:
        """Keep these; raises CrossDeskError if the file cannot be written."""
        self._wanted = list(runs)
        async with self._lock:  # a later list is never overwritten by an earlier one
            try:
                await asyncio.to_thread(self._write, self._wanted)
            except OSError as error:
                raise CrossDeskError(
                    f"Replays are lost when the window closes: {error.strerror or error}.",
                    place=str(self._file),
                ) from error

    def _read(self) -> list[Run]:
        try:
            content = json.loads(self._file.read_bytes())
            return [Run(int(one["number"]), one["result"]) for one in content if _complete(one["result"])]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("Earlier replays in %s cannot be read and are left aside: %r", self._file, error)
            return []

    def _write(self, runs: Sequence[Run]) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=".replays-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump([{"number": run.number, "result": run.result} for run in runs], stream)
            os.replace(name, self._file)
        except BaseException:
            os.unlink(name)
            raise


def _complete(result: Any) -> bool:
    return isinstance(result, dict) and result.keys() >= _NEEDED
