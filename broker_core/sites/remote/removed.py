"""What is left of a site that was removed: the output that was brought here, until its jobs are purged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from broker_core.jobs.placement import Component
from broker_core.sites.contract import RunFile
from broker_core.sites.remote.records import RemoteRecords
from broker_core.sites.run_files import find_file, list_files


class RemovedSite:
    """Reads and removes; nothing is asked of anybody."""

    def __init__(self, folder: Path) -> None:
        """`folder`: what the site had on this machine."""
        self._records = RemoteRecords(folder)

    @staticmethod
    def at(folder: Path) -> RemovedSite | None:
        """The one that had this folder, if it left output there."""
        return RemovedSite(folder) if (folder / "attempts").is_dir() else None

    async def files(self, attempt: Component) -> list[RunFile]:
        """Files of an attempt that were brought."""
        return await asyncio.to_thread(list_files, self._records.output(attempt))

    async def open_path(self, attempt: Component, path: str) -> Path:
        """Where one of `files` lies; raises NotFound."""
        return find_file(self._records.output(attempt), path)

    async def forget(self, attempts: Sequence[Component]) -> None:
        """Remove the attempts' files (purge)."""
        for attempt in attempts:
            await asyncio.to_thread(self._records.remove, attempt)
