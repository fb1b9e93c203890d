"""The submission path (CB-CMD-01): checked, durable, then told to the scheduler; a receipt for every key."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from broker_core.bookkeeping.entries import Entry, NewSubmission
from broker_core.broker.checking import Checker
from broker_core.broker.clock import now
from broker_core.broker.compound import items_of
from broker_core.broker.engine import Engine
from broker_core.broker.expansion import files_of, helper_for
from broker_core.broker.orders import Orders
from broker_core.broker.sandboxes import check_sandbox
from broker_core.errors import Busy, DescriptionRefused
from broker_core.jdl.description import JobDescription
from broker_core.jobs.events import JobEvent, Source
from broker_core.jobs.record import first_record
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.launching.files import FileStore
from broker_core.scheduling.demand import PARAMETER, Demand, demand_of, significant
from broker_core.scheduling.messages import Arrival
from broker_core.wire.checks import Diagnostic
from broker_core.wire.submission import Caution, Receipt, SandboxFile, Submission, SubmissionItem

_LATELY = 600.0
"""Seconds for which content named by a submission is not removed, so that its jobs find it."""
_IN_A_THREAD = 200
"""Number of jobs from which a submission is put together in a thread."""


@dataclass(frozen=True, slots=True)
class _Item:
    """An item that passed every check."""

    item: SubmissionItem
    description: JobDescription
    sha: str
    warnings: tuple[Caution, ...]
    own: dict[str, JobDescription]
    """Value to description, where the value changes what matching reads; else empty."""


@dataclass(frozen=True, slots=True)
class _NewJobs:
    """The jobs of a submission, not recorded yet; their positions are still 0."""

    submission: NewSubmission
    arrivals: tuple[Arrival, ...]


class Submissions:
    """Accepts submissions of one broker."""

    def __init__(
        self, engine: Engine, checker: Checker, orders: Orders, files: FileStore, sandbox_limit: int
    ) -> None:
        self._engine = engine
        self._checker = checker
        self._orders = orders
        self._files = files
        self._sandbox_limit = sandbox_limit
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
            task = asyncio.create_task(self._accept(owner, submission))
            self._under_way[name] = task
            task.add_done_callback(lambda _: self._under_way.pop(name, None))
        return await asyncio.shield(task)

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

    async def _checked(self, item: SubmissionItem, submission: Submission, number: int) -> _Item:
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
        return _Item(item, checked.description, sha, warnings, own)

    async def _each(self, item: SubmissionItem, place: str) -> dict[str, JobDescription]:
        found: dict[str, JobDescription] = {}
        for value in item.values or ():
            checked = await self._checker.check(item.description, value)
            if checked.description is None:
                raise refused(checked.diagnostics, f"{place} value {value!r}".strip())
            found[value] = checked.description
        return found

    def _put_together(
        self, owner: str, submission: Submission, items: Sequence[_Item], count: int
    ) -> _NewJobs:
        batch = new_id() if count > 1 else ""
        made = [job for item in items for job in _jobs_of(owner, submission, item, batch)]
        receipt = Receipt(
            ids=[job.entry.record.id for job in made],
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
        )
        arrivals = tuple(Arrival(job.entry.record, job.demand, submission.hold) for job in made)
        return _NewJobs(kept, arrivals)


def _place(submission: Submission, number: int) -> str:
    return f"item {number}" if len(submission.items) > 1 else ""


@dataclass(frozen=True, slots=True)
class _NewJob:
    entry: Entry
    demand: Demand
    files: tuple[SandboxFile, ...]


def _jobs_of(owner: str, submission: Submission, item: _Item, batch: str) -> Iterator[_NewJob]:
    files = files_of(item.item)
    text = item.item.description
    shared = demand_of(item.description, text, "", submission.site)
    for seed in helper_for(item.item, item.description).expand(item.item, item.description):
        description = item.own.get(seed.parameter, item.description)
        demand = demand_of(description, text, seed.parameter, submission.site) if item.own else shared
        details = {
            "name": seed.name,
            "parameter": seed.parameter,
            "structure": description.structure,
            "interactive": description.interactive,
            "cpus": description.cpus,
            "description": item.sha,
            "batch": batch,
            "pinned": submission.site,
            "hold": submission.hold,
        }
        event = _submitted(owner, details)
        yield _NewJob(Entry(event, first_record(event)), demand, files(seed.parameter))


def _submitted(owner: str, details: dict[str, object]) -> JobEvent:
    return JobEvent(
        job=new_id(),
        seq=1,
        time=now().wall,
        source=Source.UAM,
        type=EventType.SUBMITTED,
        old=None,
        new=JobState.SUBMITTED,
        owner=owner,
        reason="Accepted by the broker",
        details=details,
    )


def new_id() -> str:
    """22 URL-safe random characters, 128 bits; never with a dash first, which would look like an option."""
    made = "-"
    while made[0] == "-":
        made = base64.urlsafe_b64encode(_random.take(16))[:22].decode()
    return made


class _RandomBytes:
    """The kernel's random bytes, fetched many at a time: each call of the kernel costs as much as a job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = b""

    def take(self, count: int) -> bytes:
        with self._lock:
            if len(self._left) < count:
                self._left = os.urandom(256 * count)
            taken, self._left = self._left[:count], self._left[count:]
        return taken


_random = _RandomBytes()


def refused(diagnostics: Sequence[object], place: str = "") -> DescriptionRefused:
    """The error for a description with errors; all of them are in it (CB-JDL-11)."""
    wire = tuple(Diagnostic.model_validate(asdict(one)) for one in diagnostics)  # type: ignore[call-overload]
    errors = [one for one in wire if one.severity == "error"]
    first = errors[0].message if errors else "The description was refused."
    more = f" ({len(errors) - 1} more errors)" if len(errors) > 1 else ""
    line = f"line {errors[0].line}" if errors and errors[0].line else ""
    return DescriptionRefused(first + more, wire, place=", ".join(part for part in (place, line) if part))
