"""Files of attempts at this machine, where they lie: nothing is brought, so nothing is too large for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from broker_core.errors import NotFound
from broker_core.jdl.names import is_listed
from broker_core.jobs.placement import Component
from broker_core.sites.attempt_directory import AttemptDirectory, attempts_in
from broker_core.sites.contract import RunFile
from broker_core.sites.left_files import LeftAtSite, LeftFile
from broker_core.sites.local.run import LocalRun
from broker_core.sites.run_files import find_file, list_files

_REMOVED_AT_ONCE = 64
"""Directories of attempts that one hand-over to a thread removes."""
_FETCHED = "fetched"
"""File in an attempt's directory: names of those that were asked for later, with a zero byte behind each."""


class LocalJobFiles:
    """What `LocalSite` tells of files."""

    root: Path
    runs: dict[str, LocalRun]
    """Tag to every attempt that is here and not over."""

    async def forget(self, attempts: Sequence[Component]) -> None:
        """See `Site.forget`; attempts that are not over are left alone."""
        gone = [attempt.tag for attempt in attempts if attempt.tag not in self.runs]
        # A hand-over to a thread costs more than a directory; between two of them the loop may be closed.
        for start in range(0, len(gone), _REMOVED_AT_ONCE):
            await asyncio.to_thread(self._remove, gone[start : start + _REMOVED_AT_ONCE])

    def _remove(self, tags: Sequence[str]) -> None:
        for tag in tags:
            AttemptDirectory(self.root, tag).remove()

    def kept(self) -> list[Component]:
        """See `Site.kept`."""
        return attempts_in(self.root)

    async def files(self, attempt: Component) -> list[RunFile]:
        """See `Site.files`."""
        return await asyncio.to_thread(list_files, AttemptDirectory(self.root, attempt.tag).job)

    async def open_path(self, attempt: Component, path: str) -> Path:
        """See `Site.open_path`."""
        if not os.path.isdir(job := AttemptDirectory(self.root, attempt.tag).job):
            raise NotFound("The job has no files at this site.", place=attempt.job)
        return find_file(job, path)

    async def left(self, attempt: Component) -> LeftAtSite:
        """See `Site.left`: what the description does not name."""
        return await asyncio.to_thread(self._left, attempt)

    async def all_left(self) -> Mapping[Component, LeftAtSite]:
        """See `Site.all_left`; here it goes with its job alone."""
        return {}

    async def fetch_left(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """See `Site.fetch_left`; they count as output from now on."""
        return await asyncio.to_thread(self._note_fetched, attempt, names)

    async def forget_left(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """See `Site.forget_left`."""
        return await asyncio.to_thread(self._delete, attempt, names)

    def _left(self, attempt: Component) -> LeftAtSite:
        directory = AttemptDirectory(self.root, attempt.tag)
        order = directory.order()
        if order is None or not directory.over():
            return LeftAtSite()
        known = {*order.input_names} | {order.stdout or "std.out", order.stderr or "std.err"}
        fetched = self._fetched(attempt)
        files = tuple(
            LeftFile(file.path, file.size)
            for file in list_files(directory.job)
            if file.path not in known
            and file.path not in fetched
            and not any(is_listed(file.path, entry) for entry in order.outputs)
        )
        return LeftAtSite(files, fetched=fetched)

    def _fetched(self, attempt: Component) -> tuple[str, ...]:
        try:
            raw = Path(AttemptDirectory(self.root, attempt.tag).path, _FETCHED).read_bytes()
        except FileNotFoundError:
            return ()
        return tuple(os.fsdecode(name) for name in raw.split(b"\0")[:-1])

    def _note_fetched(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        chosen = self._chosen(attempt, names)
        with Path(AttemptDirectory(self.root, attempt.tag).path, _FETCHED).open("ab") as file:
            file.writelines(os.fsencode(name) + b"\0" for name in chosen)
        return self._left(attempt)

    def _delete(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        job = AttemptDirectory(self.root, attempt.tag).job
        for name in self._chosen(attempt, names):
            find_file(job, name).unlink(missing_ok=True)
        return self._left(attempt)

    def _chosen(self, attempt: Component, names: Sequence[str]) -> list[str]:
        """All that the job left, or those of `names`; raises NotFound."""
        there = [file.path for file in self._left(attempt).files]
        if not set(names) <= set(there):
            raise NotFound("The job left no such file.", remedy="List what stayed there.")
        return list(names) or there
