"""The submission path (CB-CMD-01): checked, durable, then told to the scheduler; a receipt for every key."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from broker_core.bookkeeping.entries import NewSubmission
from broker_core.clock import now
from broker_core.engine.engine import Engine
from broker_core.errors import Busy, DescriptionRefused
from broker_core.jdl.description import JobDescription
from broker_core.jobs.sweep import Sweep
from broker_core.launching.files import FileStore
from broker_core.matchmaking.data_locality import DataLocality
from broker_core.scheduling.demand import PARAMETER, significant
from broker_core.scheduling.messages import Arrival
from broker_core.settings.limits import LimitSettings
from broker_core.submission.checking import Checker
from broker_core.submission.compound import items_of
from broker_core.submission.expansion import files_of, helper_for
from broker_core.submission.input_sandbox import check_sandbox
from broker_core.submission.launch_orders import LaunchOrders
from broker_core.submission.new_jobs import CheckedItem, NewJob, alike, jobs_of, new_id, sweep_of
from broker_core.wire.checks import DiagnosticView
from broker_core.wire.submission import Caution, Receipt, SandboxFile, Submission, SubmissionItem

_LATELY = 600.0
"""Seconds for which content named by a submission is not removed, so that its jobs find it."""
_IN_A_THREAD = 200
"""Number of jobs from which a submission is put together in a thread."""


@dataclass(frozen=True, slots=True)
class _NewJobs:
    """The jobs of a submission, not recorded yet; their positions are still 0."""

    submission: NewSubmission
    arrivals: tuple[Arrival, ...]


class Submissions:
    """Accepts submissions of one broker."""

    def __init__(
        self,
        engine: Engine,
        checker: Checker,
        orders: LaunchOrders,
        files: FileStore,
        near_files: DataLocality,
        limits: LimitSettings,
    ) -> None:
        self._engine = engine
        self._checker = checker
        self._orders = orders
        self._files = files
        self._near_files = near_files
        self._sandbox_limit = limits.sandbox_limit
        self._backlog_max = limits.backlog_max
        self._named: dict[str, float] = {}
        self._under_way: dict[tuple[str, str], asyncio.Task[Receipt]] = {}
        self.accepting = True
        """False while the broker stops or hands over."""

    async def submit(self, owner: str, submission: Submission) -> Receipt:
        """Accept a submission; returns when it is durable.

        The same key of the same owner gives the same receipt, also while the first request is under way.
        Raises DescriptionRefused, BadRequest, Conflict, StorageFull or Busy; nothing is kept then.
        """
        name = (owner, submission.key)
        task = self._under_way.get(name)
        if task is None:
            known = self._engine.store.receipt(owner, submission.key)
            if known is not None:
                return known
            if not self.accepting:
                raise Busy(
                    "This broker is stopping and accepts nothing new.", remedy="Try again in a moment."
                )
            self._refuse_overload()
            task = asyncio.create_task(self._accept(owner, submission))
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
        self._named.update((file.sha256, now().monotonic) for item in submission.items for file in item.files)
        items = [
            await self._checked(part, submission, number)
            for number, item in enumerate(submission.items, 1)
            for part in await self._parts(item, submission, number)
        ]
        await self._near_files.asked(one for item in items for one in (item.description, *item.own.values()))
        count = sum(1 if item.item.values is None else len(item.item.values) for item in items)
        if count >= _IN_A_THREAD:
            new = await asyncio.to_thread(self._put_together, owner, submission, items, count)
        else:
            new = self._put_together(owner, submission, items, count)
        self._orders.remember(new.submission.descriptions)
        await self._engine.record_submission(new.submission, new.arrivals)
        return new.submission.receipt

    async def _parts(self, item: SubmissionItem, submission: Submission, number: int) -> list[SubmissionItem]:
        """The items that a compound description stands for; the item itself where it is plain."""
        if item.values is not None:
            return [item]
        checked = await self._checker.check(item.description)
        if checked.description is None:
            raise refused(checked.diagnostics, _place(submission, number))
        return items_of(item, checked.description)

    async def _checked(self, item: SubmissionItem, submission: Submission, number: int) -> CheckedItem:
        place = _place(submission, number)
        checked = await self._checker.check(item.description, (item.values or [""])[0])
        if checked.description is None:
            raise refused(checked.diagnostics, place)
        helper_for(item, checked.description).inspect(item)
        check_sandbox(checked.description, item.files, self._files, self._sandbox_limit, place)
        own: dict[str, JobDescription] = {}
        if item.values and PARAMETER in significant(checked.description.ad, item.description):
            own = await self._each(item, place)
        warnings = tuple(
            Caution(code=one.code, message=one.message, line=one.line)
            for one in checked.diagnostics
            if one.severity == "warning"
        )
        sha = hashlib.sha256(item.description.encode("utf-8", "surrogatepass")).hexdigest()
        return CheckedItem(item, checked.description, sha, warnings, own)

    async def _each(self, item: SubmissionItem, place: str) -> dict[str, JobDescription]:
        found: dict[str, JobDescription] = {}
        for value in item.values or ():
            checked = await self._checker.check(item.description, value)
            if checked.description is None:
                raise refused(checked.diagnostics, f"{place} value {value!r}".strip())
            found[value] = checked.description
        return found

    def _put_together(
        self, owner: str, submission: Submission, items: Sequence[CheckedItem], count: int
    ) -> _NewJobs:
        batch = new_id() if count > 1 else ""
        made: list[NewJob] = []
        sweeps: list[tuple[Sweep, tuple[SandboxFile, ...]]] = []
        arrivals: list[Arrival] = []
        for item in items:
            if alike(item):
                sweep, demand = sweep_of(owner, submission, item, batch)
                sweeps.append((sweep, files_of(item.item)(sweep.values[0])))
                arrivals += (Arrival(record, demand) for record in sweep.records())
            else:
                jobs = list(jobs_of(owner, submission, item, batch))
                made += jobs
                arrivals += (Arrival(job.entry.record, job.demand, submission.hold) for job in jobs)
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
        )
        return _NewJobs(kept, tuple(arrivals))


def _place(submission: Submission, number: int) -> str:
    return f"item {number}" if len(submission.items) > 1 else ""


def refused(diagnostics: Sequence[object], place: str = "") -> DescriptionRefused:
    """The error for a description with errors; all of them are in it (CB-JDL-11)."""
    wire = tuple(DiagnosticView.model_validate(asdict(one)) for one in diagnostics)  # type: ignore[call-overload]
    errors = [one for one in wire if one.severity == "error"]
    first = errors[0].message if errors else "The description was refused."
    more = f" ({len(errors) - 1} more errors)" if len(errors) > 1 else ""
    line = f"line {errors[0].line}" if errors and errors[0].line else ""
    return DescriptionRefused(first + more, wire, place=", ".join(part for part in (place, line) if part))
