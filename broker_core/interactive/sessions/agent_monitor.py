"""Agents are heard whether or not anybody is attached: their keys are told, and ways to them stay open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from broker_core.errors import CrossDeskError
from broker_core.interactive.sessions.sessions import Sessions
from broker_core.jobs.placement import ComputingElement
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.sites.contract import Site
from broker_core.wire.interactive import ContactState

log = logging.getLogger("crossdesk.sessions")
FIRST, WAITING, STEADY = 0.1, 2.0, 15.0
"""Seconds between two looks: the first, the last while the agent is not to be reached, and then."""


class AgentMonitor:
    """One task for each interactive job that is at a site; it ends with the job."""

    def __init__(
        self,
        job: Callable[[str], JobRecord | None],
        sessions: Sessions,
        site_of: Callable[[ComputingElement], Site | None],
        over: Callable[[str], Awaitable[None]],
    ) -> None:
        """`job`: the record of a job that has not ended; `over` is told of those that have."""
        self._job, self._is_over = job, over
        self._sessions = sessions
        self._site_of = site_of
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, records: Iterable[JobRecord]) -> None:
        """Watch the interactive ones of jobs that were taken over after a start of the broker."""
        for record in records:
            if record.interactive:
                self.begin(record.id)

    def begin(self, job: str) -> None:
        """Watch a job that is on its way to a site."""
        if job not in self._tasks:
            task = asyncio.get_running_loop().create_task(self._watch(job), name=f"agent of {job}")
            self._tasks[job] = task
            task.add_done_callback(lambda done: self._over(job, done))

    async def close(self) -> None:
        """Watch no more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _over(self, job: str, task: asyncio.Task[None]) -> None:
        del self._tasks[job]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("The agent of %s is not watched", job, exc_info=error)

    async def _watch(self, job: str) -> None:
        pause = FIRST
        while (record := self._job(job)) is not None:
            there = record.state is JobState.RUNNING and await self._heard(record)
            await asyncio.sleep(STEADY if there else pause)
            pause = FIRST if there else min(pause * 1.5, WAITING)
        await self._is_over(job)

    async def _heard(self, record: JobRecord) -> bool:
        """True if desks can reach the agent; what it says is noted, and the way there is made anew."""
        try:
            found = await self._sessions.contact(record, self._site_of(record.ce))
        except CrossDeskError as error:
            log.info("The agent of %s is not heard: %s", record.id, error)
            return False
        return found.state is ContactState.THERE
