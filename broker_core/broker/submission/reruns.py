"""Jobs that are run once more in their places of a batch; what has ended stays as it is (CB-LIFE-03)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from broker_core.bookkeeping.entries import NewSubmission
from broker_core.broker.engine.engine import Engine
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.broker.submission.new_jobs import CheckedItem, rerun_of, seeds_of
from broker_core.broker.submission.submissions import IN_A_THREAD, NewJobs, Submissions
from broker_core.errors import Conflict, NotFound
from broker_core.jdl.changes import for_any_site, with_changes
from broker_core.jobs.annotations import Annotation
from broker_core.jobs.record import JobRecord
from broker_core.scheduling.messages import Arrival
from broker_core.wire.submission import Receipt, Rerun, SandboxFile, Submission, SubmissionItem

_SLICE = 1000
"""Jobs between two turns of the event loop."""


@dataclass(frozen=True, slots=True)
class _Alike:
    """Jobs that differ in their value alone."""

    text: str
    """Their description as it will be."""
    files: tuple[SandboxFile, ...]
    records: list[JobRecord]

    @property
    def values(self) -> list[str] | None:
        """Values for `_PARAM_`; None: these are plain jobs."""
        found = dict.fromkeys(record.parameter for record in self.records if record.parameter)
        return list(found) or None


class Reruns:
    """Makes jobs of jobs that have ended. One request after the other: each job is repeated once."""

    def __init__(self, engine: Engine, orders: LaunchOrders, submissions: Submissions) -> None:
        self._engine = engine
        self._orders = orders
        self._submissions = submissions
        self._one_at_a_time = asyncio.Lock()

    async def submit(self, owner: str, wanted: Rerun) -> Receipt:
        """Accept a request; returns when the new jobs are durable. All of them are made, or none.

        The same key of the same owner gives the same receipt. Raises NotFound, Conflict, BadRequest,
        DescriptionRefused, StorageFull or Busy.
        """
        return await self._submissions.once(owner, wanted.key, lambda: self._accept(owner, wanted))

    async def _accept(self, owner: str, wanted: Rerun) -> Receipt:
        async with self._one_at_a_time:
            records = await self._ended(owner, list(dict.fromkeys(wanted.ids)))
            alike = await self._alike(records, wanted)
            items = await self._submissions.checked(owner, _submission(wanted, alike), repeated=True)
            if len(records) >= IN_A_THREAD:
                new = await asyncio.to_thread(_put_together, owner, wanted, records, alike, items)
            else:
                new = _put_together(owner, wanted, records, alike, items)
            written = await self._engine.store.annotations([record.id for record in records])
            return await self._submissions.record(_annotated(new, records, written))

    async def _ended(self, owner: str, ids: Sequence[str]) -> list[JobRecord]:
        """Records of the jobs in the order named; raises NotFound, and Conflict for one that goes on or was
        repeated before."""
        await self._engine.settled()
        store = self._engine.store
        mine = {record.id: record for record in await store.jobs(ids) if record.owner == owner}
        if missing := [job for job in ids if job not in mine]:
            raise NotFound(
                f"There is no such job{_and_others(missing)}.",
                place=missing[0],
                remedy="`crossdesk job list --all` shows yours.",
            )
        if active := [job for job in ids if not mine[job].state.ended]:
            raise Conflict(
                f"The job has not ended yet, it is {mine[active[0]].state.value}{_and_others(active)}.",
                place=active[0],
                code="not_ended",
                remedy="Wait until it has ended, or cancel it first.",
            )
        later = await store.reruns(ids)
        if repeated := [job for job in ids if job in later]:
            latest = later[repeated[0]]
            while after := await store.reruns([latest]):
                latest = after[latest]
            raise Conflict(
                f"The job was repeated already, by {latest}{_and_others(repeated)}.",
                place=repeated[0],
                code="rerun_before",
                remedy="Run that one again, once it has ended.",
            )
        return [mine[job] for job in ids]

    async def _alike(self, records: Sequence[JobRecord], wanted: Rerun) -> list[_Alike]:
        """The jobs by what is checked of them."""
        files = await self._engine.store.files_of_jobs([record.id for record in records])
        texts: dict[str, str] = {}
        # Sandboxes by the object: jobs of one list share it, and lists can be long.
        groups: dict[tuple[str, bool, int], _Alike] = {}
        for number, record in enumerate(records):
            if not number % _SLICE:
                await asyncio.sleep(0)
            if record.description not in texts:
                text = await self._orders.text(record)
                text = for_any_site(text) if wanted.site or wanted.anywhere else text
                texts[record.description] = with_changes(text, wanted.changes)
            text, sandbox = texts[record.description], files.get(record.id, ())
            name = text, bool(record.parameter), id(sandbox)
            groups.setdefault(name, _Alike(text, sandbox, [])).records.append(record)
        return list(groups.values())


def _submission(wanted: Rerun, alike: Sequence[_Alike]) -> Submission:
    """What would have to be submitted for them: it is checked like any other."""
    items = [SubmissionItem(description=one.text, files=list(one.files), values=one.values) for one in alike]
    return Submission(key=wanted.key, items=items, site=wanted.site)


def _put_together(
    owner: str,
    wanted: Rerun,
    records: Sequence[JobRecord],
    alike: Sequence[_Alike],
    items: Sequence[CheckedItem],
) -> NewJobs:
    """The new jobs in the order of `records`; `items`: one for each of `alike`."""
    renamed = any(name.lower() == "jobname" for name in wanted.changes)
    made = {}
    for one, item in zip(alike, items, strict=True):
        names = {seed.parameter: seed.name for seed in seeds_of(item)} if renamed else {}
        for record in one.records:
            name = names.get(record.parameter, record.name)
            site = "" if wanted.anywhere else wanted.site or record.pinned
            made[record.id] = rerun_of(record, item, site, name)
    jobs = [made[record.id] for record in records]
    batches = {record.batch for record in records}
    submission = NewSubmission(
        owner=owner,
        key=wanted.key,
        receipt=Receipt(
            ids=[job.entry.record.id for job in jobs],
            batch=batches.pop() if len(batches) == 1 else "",
            warnings=[warning for item in items for warning in item.warnings],
        ),
        descriptions={item.sha: item.item.description for item in items},
        entries=[job.entry for job in jobs],
        files={job.entry.record.id: job.files for job in jobs if job.files},
    )
    return NewJobs(submission, tuple(Arrival(job.entry.record, job.demand) for job in jobs))


def _annotated(new: NewJobs, records: Sequence[JobRecord], written: Mapping[str, Annotation]) -> NewJobs:
    """The new jobs with the tags and notes of those that they repeat."""
    pairs = zip(records, new.submission.receipt.ids, strict=True)
    annotations = {job: written[record.id] for record, job in pairs if record.id in written}
    return replace(new, submission=replace(new.submission, annotations=annotations))


def _and_others(jobs: Sequence[str]) -> str:
    return "" if len(jobs) == 1 else f" (and {len(jobs) - 1:,} more)"
