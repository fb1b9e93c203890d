"""The submission path (CB-CMD-01): checked, durable, then told to the scheduler; a receipt for every key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.bookkeeping.entries import NewSubmission
from broker_core.broker.engine.engine import Engine
from broker_core.broker.submission.expansion import files_of
from broker_core.broker.submission.items import ItemChecker
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.broker.submission.new_jobs import CheckedItem, NewJob, alike, jobs_of, new_id, sweep_of
from broker_core.errors import BadRequest, Busy, DescriptionRefused
from broker_core.jobs.annotations import Annotation, change_of
from broker_core.jobs.sweep import Sweep
from broker_core.launching.files import FileStore
from broker_core.scheduling.messages import Arrival
from broker_core.system.clock import now
from broker_core.wire.submission import Receipt, SandboxFile, Submission

_LATELY = 600.0
"""Seconds for which content named by a submission is not removed, so that its jobs find it."""
IN_A_THREAD = 200
"""Number of jobs from which a submission is put together in a thread."""


@dataclass(frozen=True, slots=True)
class NewJobs:
    """The jobs of a submission, not recorded yet; their positions are still 0."""

    submission: NewSubmission
    arrivals: tuple[Arrival, ...]


class Submissions:
    """Accepts submissions of one broker."""

    def __init__(
        self,
        engine: Engine,
        items: ItemChecker,
        orders: LaunchOrders,
        files: FileStore,
        backlog_max: int,
    ) -> None:
        """`backlog_max`: submitted jobs that the scheduler has not looked at; more are refused."""
        self._engine = engine
        self._items = items
        self._orders = orders
        self._files = files
        self._backlog_max = backlog_max
        self._named: dict[str, float] = {}
        self._under_way: dict[tuple[str, str], asyncio.Task[Receipt]] = {}
        self.accepting = True
        """False while the broker stops or hands over."""

    async def submit(self, owner: str, submission: Submission) -> Receipt:
        """Accept a submission; returns when it is durable.

        The same key of the same owner gives the same receipt, also while the first request is under way.
        Raises DescriptionRefused, BadRequest, Conflict, StorageFull or Busy; nothing is kept then.
        """
        return await self.once(owner, submission.key, lambda: self._accept(owner, submission))

    async def once(self, owner: str, key: str, accept: Callable[[], Coroutine[Any, Any, Receipt]]) -> Receipt:
        """What `accept` gives, or gave before for this key of this owner; it must leave its receipt in the
        store. Raises Busy, and what it raises."""
        name = (owner, key)
        task = self._under_way.get(name)
        if task is None:
            known = self._engine.store.receipt(owner, key)
            if known is not None:
                return known
            if not self.accepting:
                raise Busy(
                    "This broker is stopping and accepts nothing new.", remedy="Try again in a moment."
                )
            self._refuse_overload()
            task = asyncio.create_task(accept())
            self._under_way[name] = task
            task.add_done_callback(lambda _: self._under_way.pop(name, None))
        return await asyncio.shield(task)

    def _refuse_overload(self) -> None:
        """More than the scheduler can look at soon is refused, not piled up (reliability case 22)."""
        backlog = self._engine.scheduler.backlog
        if backlog >= self._backlog_max:
            raise Busy(
                f"The broker has {backlog:,} submitted jobs that it has not looked at yet.",
                remedy="Nothing was accepted; try again in a few seconds.",
            )

    def release(self, unused: Iterable[str]) -> None:
        """Remove content that no job has any more, unless a submission named it lately."""
        lately = now().monotonic - _LATELY
        self._named = {sha: named for sha, named in self._named.items() if named > lately}
        self._files.release([sha for sha in unused if sha not in self._named])

    async def settle(self) -> None:
        """Stop accepting and wait for the submissions under way."""
        self.accepting = False
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _accept(self, owner: str, submission: Submission) -> Receipt:
        try:
            items = await self.checked(owner, submission)
        except (DescriptionRefused, BadRequest):
            count = sum(len(one.values or [""]) for one in submission.items)
            self._engine.store.count_refused(owner, count, now().wall)
            raise
        count = sum(1 if item.item.values is None else len(item.item.values) for item in items)
        if count >= IN_A_THREAD:
            new = await asyncio.to_thread(self._put_together, owner, submission, items, count)
        else:
            new = self._put_together(owner, submission, items, count)
        return await self.record(new)

    async def checked(
        self, owner: str, submission: Submission, *, repeated: bool = False
    ) -> list[CheckedItem]:
        """Its items in order, the content that they name kept for a while; raises DescriptionRefused,
        BadRequest and Conflict."""
        self._named.update((file.sha256, now().monotonic) for item in submission.items for file in item.files)
        return await self._items.checked(owner, submission, repeated=repeated)

    async def record(self, new: NewJobs) -> Receipt:
        """Keep new jobs and tell the scheduler of them; returns when they are durable."""
        self._orders.remember(new.submission.descriptions)
        await self._engine.record_submission(new.submission, new.arrivals)
        return new.submission.receipt

    def _put_together(
        self, owner: str, submission: Submission, items: Sequence[CheckedItem], count: int
    ) -> NewJobs:
        batch = new_id() if count > 1 else ""
        made: list[NewJob] = []
        sweeps: list[tuple[Sweep, tuple[SandboxFile, ...]]] = []
        arrivals: list[Arrival] = []
        annotations: dict[str, Annotation] = {}
        for item in items:
            before = len(arrivals)
            if alike(item):
                sweep, demand = sweep_of(owner, submission, item, batch)
                sweeps.append((sweep, files_of(item.item)(sweep.values[0])))
                arrivals += (Arrival(record, demand) for record in sweep.records())
            else:
                jobs = list(jobs_of(owner, submission, item, batch))
                made += jobs
                arrivals += (Arrival(job.entry.record, job.demand, submission.hold) for job in jobs)
            begun = Annotation(item.description.tags).changed(change_of(submission.tags))
            if begun.tags:
                annotations.update((arrival.record.id, begun) for arrival in arrivals[before:])
        receipt = Receipt(
            ids=[arrival.record.id for arrival in arrivals],
            batch=batch,
            warnings=[warning for item in items for warning in item.warnings],
        )
        kept = NewSubmission(
            owner=owner,
            key=submission.key,
            receipt=receipt,
            descriptions={item.sha: item.item.description for item in items},
            entries=[job.entry for job in made],
            files={job.entry.record.id: job.files for job in made if job.files},
            sweeps=sweeps,
            annotations=annotations,
        )
        return NewJobs(kept, tuple(arrivals))
