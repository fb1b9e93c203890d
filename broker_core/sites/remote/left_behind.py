"""What jobs left at a site: brought when somebody asks, removed when nobody wants it or its time is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from broker_core.errors import NotFound
from broker_core.jobs.placement import Component
from broker_core.sites.adapter import Adapter
from broker_core.sites.left_files import LeftAtSite, shortened
from broker_core.sites.remote.attempt_monitor import AttemptMonitor
from broker_core.sites.remote.records import RemoteRecords
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.run_files import is_inside


class LeftBehind:
    """Knows by the records here; the directories at the site stay as long as these name something."""

    def __init__(
        self, adapter: Adapter, watch: AttemptMonitor, records: RemoteRecords, settings: RemoteSettings
    ) -> None:
        self._adapter, self._watch, self._records = adapter, watch, records
        self._settings = settings
        self._turn = asyncio.Lock()
        """Records are read, changed and written by one at a time."""

    async def left(self, attempt: Component) -> LeftAtSite:
        """What an attempt left there."""
        return await asyncio.to_thread(self._records.left, attempt) or LeftAtSite()

    async def all_left(self) -> dict[Component, LeftAtSite]:
        """What all attempts left there that goes by itself."""
        found = await asyncio.to_thread(self._records.all_left)
        return {one: left for one, left in found.items() if left.goes is not None}

    async def fetch(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """Bring files; no names: all that are listed. Returns what is left.

        Raises NotFound where one is not there any more, and LinkLost.
        """
        async with self._turn:
            left = await self.left(attempt)
            wanted = _wanted(left, names)
            into = await asyncio.to_thread(self._records.open_output, attempt)
            await self._adapter.fetch(attempt.tag, list(wanted.values()), into)
            brought = [shown for shown, path in wanted.items() if (into / path).is_file()]
            await self._note(attempt, left.without(brought, fetched=True))
            if missing := [shown for shown in wanted if shown not in brought]:
                raise NotFound(
                    "The file is not at the site any more.",
                    place=missing[0][:200],
                    remedy="Forget it, or run the job again.",
                )
            return await self.left(attempt)

    async def forget(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """Let files go; no names: all. The directory there goes with the last of them."""
        async with self._turn:
            left = await self.left(attempt)
            left = left.without(names) if names else replace(left, files=(), more=0, more_bytes=0)
            await self._note(attempt, left)
            return left

    async def expire(self) -> None:
        """Let go what is older than the settings allow, and mark what goes next where there is too much."""
        async with self._turn:
            remaining = await asyncio.to_thread(self._records.all_left)
            now = time.time()
            over = [one for one, left in remaining.items() if left.goes is not None and left.goes <= now]
            for one in over:
                await self._note(one, replace(remaining.pop(one), files=(), more=0, more_bytes=0))
            tags = {one.tag: one for one in remaining}
            by_tag = {one.tag: left for one, left in remaining.items()}
            for tag, left in shortened(by_tag, self._settings.results.left_max, now).items():
                await self._note(tags[tag], left)
            if over:
                self._watch.link_note(f"What {len(over)} jobs left there is removed, as its time is over.")

    async def _note(self, attempt: Component, left: LeftAtSite) -> None:
        """Write down what is left; with the last of it the directory there is not needed any more."""
        await asyncio.to_thread(self._records.note_left, attempt, left)
        if left.is_empty:
            self._watch.finish.removable.append(attempt.tag)
            self._watch.wake()


def _wanted(left: LeftAtSite, names: Sequence[str]) -> dict[str, str]:
    """Shown name to path; raises NotFound for a name that no file of a job can have."""
    known = {one.shown: one.path for one in left.files}
    wanted = {name: known.get(name, name) for name in names} if names else known
    unknown = not left.more and not wanted.keys() <= known.keys()
    if unknown or not all(map(is_inside, wanted.values())):
        raise NotFound("The job left no such file at its site.", remedy="List what stayed there.")
    return wanted
