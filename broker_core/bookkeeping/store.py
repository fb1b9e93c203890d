"""The store of Logging & Bookkeeping (CB-LB-01, CB-LB-02): events, job rows, submissions, documents."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from broker_core.bookkeeping.directory import MOUNTS, DirectoryLock
from broker_core.bookkeeping.entries import (
    Annotating,
    Document,
    EntityEntry,
    LogEntry,
    NewSubmission,
    OutsideChange,
    RefusedJobs,
    Tidying,
)
from broker_core.bookkeeping.faults import StorageCondition, damage_of
from broker_core.bookkeeping.replay import live_entities
from broker_core.bookkeeping.sqlite import outcome_reads, reads
from broker_core.bookkeeping.sqlite.annotations import Annotated, annotations_between, annotations_of
from broker_core.bookkeeping.sqlite.codec import JOB_COLUMNS
from broker_core.bookkeeping.sqlite.connection import connect_reader
from broker_core.bookkeeping.sqlite.entity_reads import EntityStep, entity_steps, recorded_entities
from broker_core.bookkeeping.sqlite.opening import Opened, open_store
from broker_core.bookkeeping.sqlite.outside_jobs import outside_jobs
from broker_core.bookkeeping.sqlite.statistics import statistics
from broker_core.bookkeeping.sqlite.writer import FailPoint, Writer
from broker_core.bookkeeping.taken_out import notices
from broker_core.bookkeeping.threads import ready_threads
from broker_core.errors import CrossDeskError
from broker_core.jobs.annotations import Annotation, AnnotationChange
from broker_core.jobs.events import JobEvent
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.sweep import Sweep
from broker_core.reactor.entities import RecoveredEntity
from broker_core.wire.submission import Receipt, SandboxFile
from broker_core.wire.views import Statistics

Answer = TypeVar("Answer")
THREADS = 2
log = logging.getLogger("crossdesk.store")


class Readers:
    """A small pool; each call sees one consistent state of the store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._pool = ready_threads(THREADS, "store-reader")

    async def read(self, query: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run `query(connection, *arguments)` in a reader's thread, inside one read transaction."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._run, query, arguments)

    def _run(self, query: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
        try:
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                return query(connection, *arguments)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise damage_of(error, self._path) from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect_reader(self._path)
            self._open.append(connection)
        return connection

    def close(self) -> None:
        """End the threads and close their connections."""
        self._pool.shutdown()
        for connection in self._open:
            connection.close()
        self._open.clear()


class Store:
    """An open store. All methods belong to the thread of the event loop.

    What is appended becomes durable in the order of the calls. Reads see what is durable.
    """

    def __init__(self, opened: Opened, fail: FailPoint | None) -> None:
        self.path = opened.path
        self.epoch = opened.epoch
        """Number of this opening; every write checks that no later one has taken place (case 4)."""
        self.position = opened.position
        """Position of the last event given to the store or taken by `next_position`."""
        self._lock: DirectoryLock = opened.lock
        self._live = opened.live
        self._sweeps = opened.sweeps
        self._connection: sqlite3.Connection = opened.connection
        self._own_reader: sqlite3.Connection = opened.reader
        self._readers = Readers(self.path)
        self._writer = Writer(self.path, self._connection, self.epoch, fail)

    @classmethod
    def open(
        cls, directory: Path, *, host: str, pid: int, fail: FailPoint | None = None, mounts: Path = MOUNTS
    ) -> Store:
        """Take the directory and open its store, making both if they are not there.

        `fail` is called with names of fail points: `store.opened`, `store.before-commit` and
        `store.after-commit`, the latter two also with `:` and each type of event in the transaction.
        `mounts` is the kernel's table of mounted file systems. Raises StateDirectoryTaken, StoreDamaged,
        StorageFull, or CrossDeskError where the directory cannot be used.
        """
        return cls(open_store(directory, host=host, pid=pid, fail=fail, mounts=mounts), fail)

    def close(self) -> None:
        """Write what waits, then give the directory free."""
        self._writer.stop()
        self._readers.close()
        self._own_reader.close()
        self._connection.close()
        self._lock.release()

    # --- the disk ---

    @property
    def condition(self) -> StorageCondition:
        """Whether the disk takes what is written."""
        return self._writer.condition

    @property
    def error(self) -> CrossDeskError | None:
        """Why the store writes no more, for good; None while it writes."""
        return self._writer.error

    @property
    def notices(self) -> list[str]:
        """What people should know of records that were taken out of the store, one line each."""
        return notices(self.path.parent)

    def listen(
        self,
        *,
        condition: Callable[[StorageCondition, str], None] | None = None,
        fatal: Callable[[CrossDeskError], None] | None = None,
    ) -> None:
        """Be called in the event loop: `condition(condition, reason)` when the disk fills up or recovers;
        `fatal(error)` when the store writes no more: the broker must exit."""
        self._writer.listeners.condition = condition
        self._writer.listeners.fatal = fatal

    # --- writing ---

    def next_position(self) -> int:
        """Take the next position of the log, for one event."""
        self.position += 1
        return self.position

    def take_positions(self, sweep: Sweep) -> None:
        """Give a sweep its places in the log."""
        sweep.first = self.position + 1
        self.position = sweep.last

    def append(self, entries: Sequence[LogEntry | EntityEntry]) -> asyncio.Future[None]:
        """Keep events with their rows, as a whole. Resolves when durable; on a full disk that is when
        there is room again. Fails only if the store writes no more, or the entries are at fault."""
        whole, beginning = self._sweeps.with_beginnings(entries)
        future = self._writer.put(tuple(whole))
        if beginning:
            future.add_done_callback(lambda done: self._begun(done, beginning))
        return future

    def _begun(self, done: asyncio.Future[None], jobs: list[str]) -> None:
        kept = not done.cancelled() and done.exception() is None
        (self._sweeps.begun if kept else self._sweeps.not_begun)(jobs)

    def submit(self, submission: NewSubmission) -> asyncio.Future[None]:
        """Keep a submission as a whole. Fails with StorageFull, or Conflict if its key is known;
        nothing is kept then."""
        future = self._writer.put(submission)
        future.add_done_callback(lambda done: self._submitted(done, submission))
        return future

    def _submitted(self, done: asyncio.Future[None], submission: NewSubmission) -> None:
        if not done.cancelled() and done.exception() is None:
            for sweep, _ in submission.sweeps:
                self._sweeps.add(sweep)

    def save_document(self, owner: str, name: str, body: str) -> asyncio.Future[None]:
        """Keep the JSON text of a document in place of its former one. Fails with StorageFull."""
        return self._writer.put(Document(owner, name, body))

    def count_refused(self, owner: str, count: int, time: float) -> None:
        """Count jobs that an owner submitted and that were refused (CB-LIFE-06). One that cannot be
        counted, as on a full disk, is left out: the refusal itself must not wait for that."""
        self._writer.put(RefusedJobs(owner, count, time)).add_done_callback(_not_counted)

    def annotate(
        self, owner: str, jobs: Sequence[str], change: AnnotationChange
    ) -> tuple[Annotating, asyncio.Future[None]]:
        """Change tags and notes of jobs, all in one transaction; what comes of it is filled in when the
        future resolves. Fails with StorageFull."""
        wanted = Annotating(owner, tuple(jobs), change, self.position + 1)
        self.position = wanted.last
        return wanted, self._writer.put(wanted)

    def keep_outside(self, change: OutsideChange) -> asyncio.Future[None]:
        """Keep what is known of jobs that were submitted outside CrossDesk. Fails with StorageFull."""
        return self._writer.put(change)

    def tidy(self) -> None:
        """Let what serves no more go, and give its room back to the disk, between the writes that come."""
        future = self._writer.put(Tidying(frozenset(sweep.first for sweep in self._sweeps.open())))
        future.add_done_callback(_untidied)

    # --- reading at once ---

    def live(self) -> list[JobRecord]:
        """Records of the jobs that had not ended when the store was opened, in order of submission."""
        return list(self._live)

    def receipt(self, owner: str, key: str) -> Receipt | None:
        """The receipt of an earlier submission with this key, None if there is none."""
        return reads.receipt(self._own_reader, owner, key)

    # --- reading in the readers' threads ---

    async def jobs_page(
        self,
        owner: str = "",
        after: str = "",
        limit: int = 5000,
        states: Sequence[JobState | Outcome] = (),
        columns: Sequence[str] = JOB_COLUMNS,
        *,
        latest: bool = False,
    ) -> reads.JobsByColumn:
        """A page of the jobs table, newest first. An empty owner stands for all owners, no states and
        outcomes for any; `after` is the `next` of the page before; `latest` leaves jobs out that were run
        again. Raises BadRequest."""
        sweeps = self._sweeps.open()
        chosen = (owner, after, limit, tuple(states), tuple(columns), sweeps, latest)
        return await self._readers.read(reads.jobs_page, *chosen)

    async def job(self, identity: str) -> JobRecord | None:
        """The record of a job, None if there is none or it was purged."""
        shared = self._sweeps.record(identity)
        return await self._readers.read(reads.job, identity) or shared

    async def jobs(self, identities: Sequence[str]) -> list[JobRecord]:
        """The records of those of the jobs that exist, in the order of their submission."""
        shared = self._sweeps.records(identities)
        written = await self._readers.read(reads.jobs, identities)
        have = {record.id for _, record in written}
        found = written + [one for one in shared if one[1].id not in have]
        return [record for _, record in sorted(found, key=itemgetter(0))]

    async def events_of(self, identity: str) -> list[JobEvent]:
        """All events of a job in order; also of a purged one."""
        shared = self._sweeps.events(identity)
        return await self._readers.read(reads.events_of, identity) or shared

    async def events_after(self, position: int, owner: str = "", limit: int = 10_000) -> list[JobEvent]:
        """Events behind a position in order, of one owner's jobs or (empty) of all."""
        sweeps = self._sweeps.open()
        return await self._readers.read(reads.events_after, position, owner, limit, sweeps)

    async def entities(self) -> Mapping[str, tuple[RecoveredEntity, ...]]:
        """By kind the entities beside jobs that are not over; raises StoreDamaged."""
        return await self._readers.read(live_entities)

    async def entity_steps(self, kind: str) -> list[EntityStep]:
        """All steps of the entities of a kind that is not that of jobs, in order."""
        return await self._readers.read(entity_steps, kind)

    async def recorded_entities(self, ids: Sequence[str]) -> set[str]:
        """Those of these entities that have begun, though they may be over."""
        return await self._readers.read(recorded_entities, ids)

    async def description(self, sha: str) -> str | None:
        """The text of a description by its SHA-256 (hex)."""
        return await self._readers.read(reads.description, sha)

    async def files_of(self, identity: str) -> list[SandboxFile]:
        """The input sandbox that a job was sent with."""
        name = self._sweeps.files(identity)
        if name == "":
            return []
        return await self._readers.read(reads.files_of, identity, name or "")

    async def files_of_jobs(self, identities: Sequence[str]) -> dict[str, tuple[SandboxFile, ...]]:
        """Job id to its input sandbox, for jobs that have begun; equal ones are the same object."""
        return await self._readers.read(reads.files_of_jobs, identities)

    async def reruns(self, identities: Sequence[str]) -> dict[str, str]:
        """Job id to the id of the job that repeats it, for those of the jobs that have one."""
        return await self._readers.read(reads.reruns, identities)

    async def ended_before(
        self, moment: float, states: Sequence[JobState], after: str = "", limit: int = 500
    ) -> list[JobRecord]:
        """Records of jobs in these states that ended before a moment, by their ids, those behind `after`."""
        return await self._readers.read(reads.ended_before, moment, tuple(states), after, limit)

    async def annotations(self, identities: Sequence[str]) -> dict[str, Annotation]:
        """Job id to its tags and note, for those of the jobs that ever had some."""
        return await self._readers.read(annotations_of, identities)

    async def annotations_between(self, owner: str, after: int, upto: int, limit: int) -> list[Annotated]:
        """What of an owner's jobs was changed behind one position and not behind another, in order."""
        return await self._readers.read(annotations_between, owner, after, upto, limit)

    async def outside_jobs(self) -> list[tuple[str, str, str]]:
        """Site, id and JSON text of the jobs that were submitted outside CrossDesk."""
        return await self._readers.read(outside_jobs)

    async def files_in_use(self) -> set[str]:
        """SHA-256 of every sandbox file that some job in the store was sent with."""
        return await self._readers.read(reads.files_in_use)

    async def document(self, owner: str, name: str) -> str | None:
        """The JSON text of a document, None if there is none."""
        return await self._readers.read(reads.document, owner, name)

    async def states(self, owner: str = "") -> dict[str, int]:
        """State to number of jobs."""
        return await self._readers.read(reads.states, owner, self._sweeps.open())

    async def outcomes_at_sites(self, owner: str = "") -> dict[str, Counter[Outcome]]:
        """Names of sites to how many jobs ended well and how many failed there."""
        return await self._readers.read(outcome_reads.at_sites, owner)

    async def statistics(self, owner: str = "") -> Statistics:
        """The numbers of CB-UI-13; purged jobs stay counted."""
        return await self._readers.read(statistics, owner, self._sweeps.open())


def _not_counted(done: asyncio.Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.info("A refused submission was not counted: %s", error)


def _untidied(done: asyncio.Future[None]) -> None:
    """A full disk, or one that fails, is told where it matters; here it is enough to know of it."""
    if not done.cancelled() and (error := done.exception()) is not None:
        log.info("The store was not tidied: %s", error)
