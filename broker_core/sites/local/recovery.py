"""Finding attempts again after a restart: running on, ended meanwhile, queued, or never arrived."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from broker_core.jobs.attempt_events import AttemptEnded, AttemptReport
from broker_core.jobs.placement import Component
from broker_core.sites.attempt_directory import AttemptDirectory, tags_in
from broker_core.sites.contract import KnownAttempt, LaunchOrder
from broker_core.sites.endings import CANCELED, LOST, ended_of
from broker_core.sites.local import processes
from broker_core.sites.local.run import Abandoned, Followed, Handed, Launched, LocalRun, Running
from broker_core.sites.local.settings import LocalSettings

_LOOKS = 40
_PAUSE = 0.025


class RecoveringSite(Protocol):
    """What recovery asks of the local site."""

    root: Path
    settings: LocalSettings
    runs: dict[str, LocalRun]
    torn: set[str]
    """Tags of attempts whose order a power cut took."""

    def report(self, notice: AttemptReport) -> None:
        """Tell the broker."""
        ...

    def enqueue(self, run: LocalRun) -> None:
        """Put a run into the queue."""
        ...

    def occupy(self, run: LocalRun) -> None:
        """Count the processors of a run as taken."""
        ...

    def watch(self, run: LocalRun, found: Launched | Handed | Followed) -> None:
        """Wait for the end of a starter; raises ProcessLookupError where it is gone."""
        ...

    def tell_started(self, run: LocalRun) -> None:
        """Report the start, once."""
        ...

    def end_processes(self, run: LocalRun) -> None:
        """End all processes of a run."""
        ...

    def settle_later(self, run: LocalRun) -> None:
        """End what is left of a run whose starter is gone, then finish it."""
        ...

    def finish(self, run: LocalRun, status: int | None) -> None:
        """Report the end of a run and give its processors back."""
        ...


class Recovery:
    """Brings a local site's memory in line with its directories and the machine's processes.

    Everything here may be cut short and done again: it only reads, waits, ends and queues.
    """

    def __init__(self, site: RecoveringSite) -> None:
        self._site = site
        self._alive: list[processes.Process] = []

    async def run(self, known: Sequence[KnownAttempt]) -> None:
        """See `Site.start`."""
        self._alive = await asyncio.to_thread(processes.all_processes)
        for one in known:
            self._find(one)
        await self._end_unknown({one.component.tag for one in known})

    async def resume(self, order: LaunchOrder) -> None:
        """Go on with an attempt of which a power cut took the order."""
        self._alive = await asyncio.to_thread(processes.all_processes)
        self._go_on(order, AttemptDirectory(self._site.root, order.attempt.tag))

    def end_of_absent(self, attempt: Component) -> AttemptEnded:
        """The end of an attempt that is over, or never was here."""
        directory = AttemptDirectory(self._site.root, attempt.tag)
        order = directory.order()
        kept = directory.end()
        if kept is not None:
            return kept
        if order is not None and directory.over():
            return ended_of(LocalRun(order, directory), None, None, self._site.settings.file_limit)
        return AttemptEnded(attempt, time.time(), None, None, *CANCELED)

    async def find_first(self, run: LocalRun) -> None:
        """A second start of `run` was refused: follow the first one, or take its end."""
        for _ in range(_LOOKS):
            self._alive = await asyncio.to_thread(processes.all_processes)
            if run.directory.over() or self._follow(run):
                break
            await asyncio.sleep(_PAUSE)
        if not isinstance(run.stage, Running) or run.directory.over():
            await processes.end_all(run.tag, 0, 0)
            self._site.finish(run, None)

    def _find(self, known: KnownAttempt) -> None:
        attempt, directory = known.component, AttemptDirectory(self._site.root, known.component.tag)
        order = directory.order()
        if order is not None:
            self._go_on(order, directory)
        elif (kept := directory.end()) is not None:
            self._site.report(kept)
        elif known.resubmitted:
            self._site.torn.add(attempt.tag)
        elif directory.over():
            self._site.report(AttemptEnded(attempt, time.time(), None, None, *LOST))
        else:
            self._site.report(
                AttemptEnded(attempt, time.time(), None, None, "lost", "The site has no such attempt.")
            )

    def _go_on(self, order: LaunchOrder, directory: AttemptDirectory) -> None:
        if directory.over():
            self._over(order, directory)
        elif os.path.isdir(directory.path):
            self._resume(LocalRun(order, directory))

    def _over(self, order: LaunchOrder, directory: AttemptDirectory) -> None:
        kept = directory.end()
        if kept is not None:
            self._site.report(kept)
            return
        run = LocalRun(order, directory)
        self._site.occupy(run)
        run.enter(Abandoned())
        self._settle(run)

    def _resume(self, run: LocalRun) -> None:
        if run.directory.cancel_asked():
            run.verdict = CANCELED
        if not run.directory.claimed() and not self._starters(run):
            self._queue(run)
            return
        self._site.occupy(run)
        if self._follow(run):
            self._site.tell_started(run)
            if run.verdict is not None:
                self._site.end_processes(run)
        else:
            run.enter(Abandoned())
            self._settle(run)

    def _queue(self, run: LocalRun) -> None:
        """Not started yet: into the queue, or out of it if it was to be canceled."""
        run.directory.make(run.order)
        if run.verdict is None:
            self._site.enqueue(run)
        else:
            self._site.runs[run.tag] = run
            self._site.finish(run, None)

    def _settle(self, run: LocalRun) -> None:
        """The starter is gone: end what is left and report."""
        if processes.of_attempt(run.tag, 0, self._alive):
            self._site.settle_later(run)
        else:
            self._site.finish(run, None)

    def _starters(self, run: LocalRun) -> list[int]:
        """Pids of the starter of `run`, the session leader first."""
        mine = [process for process in self._alive if process.tag == run.tag and process.starter]
        return [process.pid for process in sorted(mine, key=lambda one: one.pid != one.session)]

    def _follow(self, run: LocalRun) -> bool:
        """Watch the living starter of `run`; False if there is none."""
        found: list[Followed | Handed] = [Followed(pid) for pid in self._starters(run)]
        if lasting := run.directory.lasting_starter():
            found.append(Handed(lasting, 0.0))
        for one in found:
            try:
                self._site.watch(run, one)
            except ProcessLookupError:
                continue
            return True
        return False

    async def _end_unknown(self, known: set[str]) -> None:
        """End and remove attempts that nobody knows; what is over keeps its files until it is purged."""
        here = await asyncio.to_thread(lambda: set(tags_in(self._site.root)) - known)
        directories = {tag: AttemptDirectory(self._site.root, tag) for tag in here}
        going = {tag: one for tag, one in directories.items() if not one.over()}
        for tag in {process.tag for process in self._alive} & here:
            await processes.end_all(tag, 0, 0)
        for one in going.values():
            await self._recorded(one)
            await asyncio.to_thread(one.remove)

    async def _recorded(self, directory: AttemptDirectory) -> None:
        """Wait until a lasting starter has written down what it does once its program is gone."""
        for _ in range(_LOOKS):
            if directory.over() or not directory.lasting_starter():
                return
            await asyncio.sleep(_PAUSE)
