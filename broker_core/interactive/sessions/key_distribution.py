"""Running agents follow the list of desks: a new one is let in, a forgotten one is cut off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

from broker_core.bookkeeping.store import Store
from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.contact import Contact
from broker_core.interactive.channel.rendezvous import Endpoint, NoRendezvous
from broker_core.interactive.sessions.sessions import Sessions
from broker_core.jobs.placement import ComputingElement
from broker_core.jobs.record import JobRecord
from broker_core.sites.contract import Site
from broker_core.wire.interactive import ContactState, SessionContact

log = logging.getLogger("crossdesk.sessions")
SHORT, LONG = 0.05, 30.0
"""Seconds between two attempts to tell an agent: the first, the last."""


class KeyDistribution:
    """One task for each job whose agent has to be told; it tries until the agent knows, or the job ended."""

    def __init__(
        self,
        store: Store,
        live: Callable[[], Iterable[JobRecord]],
        sessions: Sessions,
        site_of: Callable[[ComputingElement], Site | None],
    ) -> None:
        """`live`: the jobs that have not ended."""
        self._store = store
        self._live = live
        self._sessions = sessions
        self._site_of = site_of
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._changes: dict[str, int] = {}
        """Owner to how often the list of desks has changed."""

    def start(self) -> None:
        """After a start: an agent may have missed a change."""
        for owner in {record.owner for record in self._live() if self._sessions.has_agent(record)}:
            self.changed(owner)

    def changed(self, owner: str) -> None:
        """The desks of a user are others now: tell all agents of the user's jobs."""
        self._changes[owner] = self._changes.get(owner, 0) + 1
        for record in self._live():
            task = self._telling.get(record.id)
            if record.owner != owner or not self._sessions.has_agent(record):
                continue
            if task is None or task.done():
                task = asyncio.get_running_loop().create_task(self._tell(record.id, owner))
                self._telling[record.id] = task
                task.add_done_callback(partial(self._over, record.id))

    async def settled(self, job: str, seconds: float) -> None:
        """Wait until the agent of a job knows the desks of now, at most so long."""
        task = self._telling.get(job)
        if task is not None:
            await asyncio.wait([task], timeout=seconds)

    async def close(self) -> None:
        """Tell nobody any more; after the next start all are told again."""
        tasks = list(self._telling.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _over(self, job: str, task: asyncio.Task[None]) -> None:
        if self._telling.get(job) is task:
            del self._telling[job]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("The agent of %s cannot be told of its desks", job, exc_info=error)

    async def _tell(self, job: str, owner: str) -> None:
        told, pause = -1, SHORT
        while told != self._changes[owner]:
            record = await self._store.job(job)
            if record is None or record.state.ended:
                return
            now = self._changes[owner]
            try:
                if not await self._once(record):
                    return
                told = now
                continue
            except (NoRendezvous, CrossDeskError) as error:
                log.info("The agent of %s is not told of its desks yet: %s", job, error)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONG)

    async def _once(self, record: JobRecord) -> bool:
        """Tell the agent; False if there is none to tell. Raises NoRendezvous and CrossDeskError."""
        found = await self._sessions.contact(record, self._site_of(record.ce))
        if found.state is ContactState.WAITING:
            raise NoRendezvous(found.reason)
        if found.state is not ContactState.THERE or not found.host_key:
            return False
        # Loaded here, because only changes of desks need what it brings along.
        import asyncssh

        from broker_core.interactive.sessions.enrollment import introduce

        desks = [desk.key for desk in await self._sessions.desks.of(record.owner)]
        key = asyncssh.import_private_key(self._sessions.key.private)
        await introduce(_contact(found), key, desks)
        log.info("The agent of %s lets %d desks in", record.id, len(desks))
        return True


def _contact(found: SessionContact) -> Contact:
    places = tuple(Endpoint(place.host, place.port) for place in found.places)
    return Contact(found.job, found.token, places, found.host_key, found.node, found.attempt)
