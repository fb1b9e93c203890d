"""This machine as a computing element: a queue, processors, and jobs run by the Job Starter (CB-ENV-01)."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from broker_core.errors import NotFound
from broker_core.information.this_machine import usable_cpus
from broker_core.jobs.attempt_events import AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.resources.facts import Facts, facts_of
from broker_core.resources.record import Resource
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import (
    AgentOrder,
    CurrentAttempts,
    KnownAttempt,
    LaunchOrder,
    Report,
    SiteRefused,
)
from broker_core.sites.endings import CANCELED, Usage, ended_of, full_output
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.link import Link, LinkEvent
from broker_core.sites.local import processes
from broker_core.sites.local.capacity import Capacity
from broker_core.sites.local.exit_watcher import ExitWatcher
from broker_core.sites.local.job_files import LocalJobFiles
from broker_core.sites.local.lasting import LastingStarters, Word
from broker_core.sites.local.lines import carry_lines
from broker_core.sites.local.recovery import Recovery
from broker_core.sites.local.resource import local_resource
from broker_core.sites.local.run import (
    Finished,
    Followed,
    Handed,
    Launched,
    LocalRun,
    Queued,
    Running,
    Staging,
)
from broker_core.sites.local.settings import LocalSettings
from broker_core.sites.local.start_pipe import StartPipe
from broker_core.sites.local.starts import Starts
from broker_core.sites.local.use import UseSampler
from broker_core.sites.software import software_here
from broker_core.sites.staging import StagingFailed
from broker_core.sites.starting import mpi_launchers, spawn_agent
from broker_core.worker.markers import read_started

log = logging.getLogger("crossdesk.sites")
_REFUSED_SECOND = 226  # by the Job Starter
_BUSY = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""The machine is short of processes, memory or descriptors: the start is tried again."""


class SiteState(Enum):
    """Whether jobs are started."""

    NEW = "new"
    OPEN = "open"
    CLOSED = "closed"


class LocalSite(LocalJobFiles):
    """Runs components on this machine, first come, first served, as many at once as its processors hold.

    What runs goes on without this process: a new one finds it again by `start`.
    """

    def __init__(
        self, name: str, directory: Path, cpus: int = 0, settings: LocalSettings | None = None
    ) -> None:
        self.name = name
        self.holds = False
        self.settings = settings or LocalSettings()
        self.root = directory / "attempts"
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.capacity = Capacity(cpus or usable_cpus())
        self.runs = {}
        self.torn: set[str] = set()
        """Tags of attempts that are here without their orders, which are on their way once more."""
        self._queue: deque[LocalRun] = deque()
        self._notice = directory / "starts"
        self._tasks: set[asyncio.Task[None]] = set()
        self._adopting = False
        self._sampler = UseSampler()
        self._software: list[str] = []
        """Tags of what this machine has, once that was asked."""
        self.facts_changed: Callable[[], None] = lambda: None
        """Called when this machine has other things to say of itself than a moment ago."""
        self._launch_call: asyncio.Handle | None = None
        """The next start, where there may be one."""
        self._state = SiteState.NEW
        self.link = Link(lambda _: None)
        self.link.transition(LinkEvent.ANSWERED)

    async def look(self) -> tuple[Facts, ...]:
        """See `Site.look`."""
        return (facts_of(self.describe()),)

    def describe(self) -> Resource:
        """This machine with its GLUE attributes and the counts of now."""
        counts = (len(self.runs), len(self._queue))
        return local_resource(self.name, str(self.root), self.capacity, *counts, self._software)

    async def start(self, report: Report, known: Sequence[KnownAttempt]) -> None:
        """See `Site.start`."""
        self.report = report
        self._loop = asyncio.get_running_loop()
        self._exits = ExitWatcher(self._loop)
        self._pipe = StartPipe(self._notice, self._loop, self._heard)
        self.lasting = LastingStarters(self._exits, self.settings, self._notice, self._on_lasting)
        self._starts = Starts(self.settings, self.capacity, self.lasting, self._notice)
        self._adopting = processes.adopt_orphans()
        self._state = SiteState.OPEN
        await Recovery(self).run(known)
        self._spawn_task(self._guard())
        self._spawn_task(self._ask_software())
        self._spawn_task(self.capacity.watch(self._gpus_known))
        self._launch_soon()

    async def submit(self, order: LaunchOrder) -> str:
        """See `Site.submit`; the id is the attempt's tag."""
        await self.capacity.ready(order)
        tag = order.attempt.tag
        directory = AttemptDirectory(self.root, tag)
        if tag in self.torn:
            self.torn.discard(tag)
            await Recovery(self).resume(order)
        if tag in self.runs or directory.over():
            return tag
        order.carried("fork")
        self.capacity.check(order, self.name)
        self._starts.check(order)
        try:
            directory.make(order)
        except OSError as error:
            raise SiteRefused(
                f"The site cannot keep the job: {error.strerror}.",
                place=directory.path,
                remedy="Free some space on its disk.",
            ) from error
        self.enqueue(LocalRun(order, directory))
        return tag

    async def confirm(self, attempt: Component) -> None:
        """See `Site.confirm`; nothing is held here."""

    async def cancel(self, attempt: Component) -> None:
        """See `Site.cancel`."""
        run = self.runs.get(attempt.tag)
        if run is None:
            self.report(Recovery(self).end_of_absent(attempt))
            return
        if run.verdict is None:
            run.verdict = CANCELED
            run.note(run.directory.ask_cancel)
        if isinstance(run.stage, Queued):
            self._queue.remove(run)
            self.finish(run, None)
        elif isinstance(run.stage, Running):
            self.end_processes(run)

    async def carry_lines(self, attempt: Component, call: LineCall) -> LineAnswer:
        """See `Site.carry_lines`."""
        return carry_lines(AttemptDirectory(self.root, attempt.tag).path, call)

    async def bring_agent(self, attempt: Component, order: AgentOrder) -> None:
        """See `Site.bring_agent`; it ends with all that the job leaves behind."""
        run = self.runs.get(attempt.tag)
        if run is None or not isinstance(run.stage, Running):
            raise NotFound("The job does not run.", place=attempt.job)
        agent = spawn_agent(run.order, run.directory.job, order.settings)
        self._exits.watch(agent, lambda pid: processes.reap([pid]))

    async def sweep(self, current: CurrentAttempts) -> bool:
        """See `Site.sweep`; this machine is never silent, so that `forget` and `kept` are enough."""
        return False

    async def close(self) -> None:
        """See `Site.close`."""
        if self._state is not SiteState.OPEN:
            return
        self._state = SiteState.CLOSED
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.lasting.close()
        self._exits.close()
        self._pipe.close()

    def enqueue(self, run: LocalRun) -> None:
        """Put an attempt at the end of the queue."""
        self.runs[run.tag] = run
        self._queue.append(run)
        self._launch_soon()

    def watch(self, run: LocalRun, found: Launched | Handed | Followed) -> None:
        """Follow the running starter of `run`; raises ProcessLookupError if it is gone."""
        run.enter(found)
        run.kernel_kills = self._sampler.kernel_kills
        starter = found.lasting if isinstance(found, Handed) else found.starter
        if starter not in self.lasting.pids:  # of our own it is heard what they do
            self._exits.watch(starter, lambda _: self._exited(run))

    def occupy(self, run: LocalRun) -> None:
        """Count the processors of a run that is going on already."""
        self.runs[run.tag] = run
        self.capacity.keep(run.order, run.directory.gpus())

    def tell_started(self, run: LocalRun) -> None:
        """Report the start, once, if the starter recorded one."""
        mark = None if run.started is not None else read_started(run.directory.path)
        if mark is not None:
            run.started = mark
            began, node = max(mark.time, run.begun), os.uname().nodename
            self.report(AttemptStarted(run.order.attempt, began, node, mark.pid))

    def end_processes(self, run: LocalRun) -> None:
        """End all processes of a run; its end is reported when they are gone."""
        if run.ending is None:
            run.ending = self._spawn_task(processes.end_all(run.tag, run.starter, self.settings.kill_grace))

    def finish(self, run: LocalRun, status: int | None, usage: Usage = None) -> None:
        """Report the end of a run whose processes are gone, and let the next one in."""
        if self.runs.get(run.tag) is not run:
            return  # of a start that was refused, the end of the first start is seen twice
        self.tell_started(run)
        ended = ended_of(run, status, usage, self.settings.file_limit)
        if not os.path.exists(f"{run.directory.path}/ended") or run.verdict is not None:
            run.note(lambda: run.directory.write_end(ended))
        if not isinstance(run.stage, Queued):
            self.capacity.give_back(run.order)
        run.enter(Finished())
        del self.runs[run.tag]
        self.report(ended)
        self._launch_soon()

    def settle_later(self, run: LocalRun) -> None:
        """End what is left of a run whose starter is gone, then report its end."""
        self._spawn_task(self._end_and_finish(run, None, None))

    def _heard(self, tag: str) -> None:
        if (run := self.runs.get(tag)) is not None:
            self.tell_started(run)

    def _on_lasting(self, word: Word, tag: str) -> None:
        if (run := self.runs.get(tag)) is None or not isinstance(run.stage, Handed):
            return
        if word is Word.STARTED:
            self.tell_started(run)
            if run.ending is not None and run.ending.done():  # it was canceled a moment too early
                run.ending = None
                self.end_processes(run)
        elif word is Word.ENDED:
            self._exited(run)
        elif word is Word.REFUSED:
            self._spawn_task(Recovery(self).find_first(run))
        elif word is Word.LOST:
            self.settle_later(run)
        elif run.verdict is not None:
            self.finish(run, None)
        else:
            self._start(run, itself=True)

    def _launch_soon(self) -> None:
        if self._state is SiteState.OPEN and self._launch_call is None and self._queue:
            self._launch_call = self._loop.call_soon(self._launch)

    def _launch(self) -> None:
        """Start the first in the queue if what it needs is free; others in the next turns of the loop."""
        self._launch_call = None
        if self._state is not SiteState.OPEN or not self._queue:
            return
        run = self._queue[0]
        if lacking := self.capacity.lacking(run.order):  # it came before a restart, with other GPUs
            run.verdict = ("starter", lacking)
            self._queue.popleft()
            self.finish(run, None)
        elif self.capacity.take(run.order):
            self._queue.popleft()
            run.enter(Staging())
            self._begin(run)
        else:
            return
        self._launch_soon()

    def _begin(self, run: LocalRun) -> None:
        if run.order.inputs:
            self._spawn_task(self._stage_and_start(run))
        else:
            self._start(run, empty=True)

    async def _stage_and_start(self, run: LocalRun) -> None:
        try:
            await asyncio.to_thread(run.lay_out)
        except StagingFailed as error:
            run.verdict = run.verdict or ("download", str(error))
        except OSError as error:
            self._not_started(run, error)
            return
        if run.verdict is None:
            self._start(run)
        else:
            self.finish(run, None)

    def _start(self, run: LocalRun, *, empty: bool = False, itself: bool = False) -> None:
        """Have its program started, in an empty directory if `empty`; `itself`: not by a lasting starter."""
        try:
            if empty:
                run.directory.clear_job()
            handed = None if itself else self._starts.hand(run)
            begun = handed or self._starts.launch(run, others_wait=bool(self._queue))
        except OSError as error:
            self._not_started(run, error)
        else:
            self.watch(run, begun)

    def _not_started(self, run: LocalRun, error: OSError) -> None:
        if error.errno in _BUSY:
            self._loop.call_later(self.settings.retry_interval, self._again, run)
            return
        reason = f"The Job Starter could not be started: {error.strerror}."
        run.verdict = run.verdict or ("starter", reason)
        self.finish(run, None)

    def _again(self, run: LocalRun) -> None:
        if self._state is SiteState.OPEN:
            self._begin(run) if run.verdict is None else self.finish(run, None)

    def _exited(self, run: LocalRun) -> None:
        """The starter of `run` is gone: end what it left behind, then report."""
        status, usage = processes.outcome(run.starter) if isinstance(run.stage, Launched) else (None, None)
        if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == _REFUSED_SECOND:
            self._spawn_task(Recovery(self).find_first(run))
        elif run.ending is None and not self._left_behind(run):
            self.finish(run, status, usage)
        else:
            self._spawn_task(self._end_and_finish(run, status, usage))

    def _left_behind(self, run: LocalRun) -> bool:
        """True if processes of `run` may be alive after its starter."""
        stage, lasting = run.stage, self.lasting.pids
        ours = isinstance(stage, Launched) or (isinstance(stage, Handed) and stage.lasting in lasting)
        found = processes.children() if self._adopting and ours else None
        if found is None:
            return bool(processes.of_attempt(run.tag, run.starter, processes.all_processes()))
        if orphans := found - lasting:
            orphans -= {other.starter for other in self.runs.values()}
        seen = [process for pid in orphans if (process := processes.look_at(pid)) is not None]
        processes.reap(pid for pid in orphans if processes.is_adopted_zombie(pid))
        return bool(processes.of_attempt(run.tag, run.starter, seen))

    async def _end_and_finish(self, run: LocalRun, status: int | None, usage: Usage) -> None:
        self.end_processes(run)
        assert run.ending is not None
        await run.ending
        self.finish(run, status, usage)

    async def _ask_software(self) -> None:
        self._software = await software_here(mpi_launchers(self._notice.parent))
        self.facts_changed()

    def _gpus_known(self) -> None:
        self._launch_soon()
        self.facts_changed()

    async def _guard(self) -> None:
        """Sample what jobs use; end those whose output reached the limit and who ignore the signal for it."""
        while True:
            await asyncio.sleep(self.settings.guard_interval)
            if self._sampler.is_due() and self.runs:
                await asyncio.to_thread(self._sampler.sample, list(self.runs.values()))
            for run in list(self.runs.values()):
                if not isinstance(run.stage, Running) or run.verdict is not None:
                    continue
                if reason := full_output(run, self.settings.file_limit):
                    run.verdict = ("output-limit", reason)
                    self.end_processes(run)

    def _spawn_task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Work at %s failed", self.name, exc_info=error)
