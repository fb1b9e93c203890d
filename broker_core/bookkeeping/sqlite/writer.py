"""The one thread that writes: it takes all that waits and makes it durable in one transaction."""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.bookkeeping.ballast import Ballast
from broker_core.bookkeeping.directory import read_holder, taken
from broker_core.bookkeeping.entries import (
    Annotating,
    Document,
    NewSubmission,
    OutsideChange,
    Payload,
    RefusedJobs,
    Tidying,
)
from broker_core.bookkeeping.faults import (
    StorageCondition,
    StorageFailed,
    condition_after,
    damage_of,
    full_error,
)
from broker_core.bookkeeping.sqlite.commit import write_payloads
from broker_core.bookkeeping.sqlite.room import SLICE, give_back_slice, has_room_to_give, shorten_log
from broker_core.errors import Conflict, CrossDeskError

log = logging.getLogger("crossdesk.store")
FailPoint = Callable[[str], object]
GROUP = 4000
"""Payloads that one transaction takes at most."""
COMMIT_WEIGHT = 4
CHECKPOINT_WEIGHT = 8000
"""Entries, and four for each commit, after which the write-ahead log is copied into the store."""
RETRY_SECONDS = 0.25
"""Pause between two tries while the disk is full."""
QUIET_SECONDS = 0.02
"""Time without a write after which a slice of free pages is given back to the disk."""
_FAULT_OF_ONE = (
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    Conflict,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Work:
    """A payload, and the future that is resolved when it is durable."""

    payload: Payload
    future: asyncio.Future[None]


@dataclass(slots=True)
class Listeners:
    """Who is told, in the event loop, of what happens to the store."""

    condition: Callable[[StorageCondition, str], None] | None = None
    fatal: Callable[[CrossDeskError], None] | None = None


class Writer:
    """Group commit. All methods but `_run` and what it calls belong to the event loop's thread."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, epoch: int, fail: FailPoint | None
    ) -> None:
        self.path = path
        self.condition = StorageCondition.OK
        self.error: CrossDeskError | None = None
        self.listeners = Listeners()
        self._connection = connection
        self._epoch = epoch
        self._fail = fail
        self._ballast = Ballast(path.parent)
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._backlog: list[Work] = []
        self._unsaved = 0
        self._closing = False
        self._untidy = has_room_to_give(connection)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        if not self._ballast.restore():
            self.condition = StorageCondition.FULL
        self._thread.start()

    def put(self, payload: Payload) -> asyncio.Future[None]:
        """Hand a payload over; the future resolves when it is durable, or fails and nothing is kept."""
        loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if self.error is not None:
            future.set_exception(self.error)
        else:
            self._queue.put(Work(payload, future))
        return future

    def stop(self) -> None:
        """Write what waits and end the thread; what a full disk does not take stays unresolved."""
        self._queue.put(None)
        self._thread.join()

    # --- in the writer's thread ---

    def _run(self) -> None:
        while not self._closing:
            group = self._take()
            if self.error is not None:
                self._tell(group, self.error)
            elif group or self._backlog or self.condition is not StorageCondition.OK:
                self._write(group)
            elif self._untidy and not self._closing:
                self._give_back()
        self._tell(self._backlog, full_error(self.path.parent, self.condition))

    def _take(self) -> list[Work]:
        """All that waits, at most GROUP; the backlog of a full disk comes first."""
        timeout = QUIET_SECONDS if self._untidy else None
        if self.condition is not StorageCondition.OK:
            timeout = RETRY_SECONDS
        try:
            work = self._queue.get(timeout=timeout)
        except queue.Empty:
            return []
        group: list[Work] = []
        while work is not None:
            group.append(work)
            if len(group) == GROUP or self._queue.empty():
                return group
            work = self._queue.get()
        self._closing = True
        return group

    def _write(self, group: list[Work]) -> None:
        if self.condition is not StorageCondition.OK:
            group = self._refuse_submissions(group)
        self._backlog += group
        try:
            if self._backlog:
                self._commit_all(self._backlog)
            self._after_success()
        except sqlite3.Error as error:
            self._after_failure(error)
        except CrossDeskError as error:
            self._die(error)
        except Exception as error:
            log.exception("the writer failed")
            self._die(StorageFailed(f"The store's writer failed ({error!r}).", place=str(self.path)))

    def _refuse_submissions(self, group: list[Work]) -> list[Work]:
        refused = [work for work in group if not _must_be_kept(work)]
        self._tell(refused, full_error(self.path.parent, self.condition))
        return [work for work in group if _must_be_kept(work)]

    def _commit_all(self, works: list[Work]) -> None:
        """One transaction for all; if one of them is at fault, one for each."""
        try:
            self._commit(works)
            self._settle(works, None)
        except _FAULT_OF_ONE as error:
            self._rollback()
            if len(works) == 1:
                self._settle(works, error)
                return
            for work in works:
                self._commit_all([work])

    def _settle(self, works: list[Work], error: Exception | None) -> None:
        self._backlog = self._backlog[len(works) :]
        self._unsaved += COMMIT_WEIGHT + sum(_weight(work.payload) for work in works)
        self._untidy = self._untidy or any(isinstance(work.payload, Tidying) for work in works)
        self._tell(works, error)

    def _commit(self, works: list[Work]) -> None:
        payloads = [work.payload for work in works]
        points = _points(payloads) if self._fail else ()
        self._connection.execute("BEGIN IMMEDIATE")
        self._check_epoch()
        write_payloads(self._connection, payloads)
        for point in points:
            self._reach("store.before-commit" + point)
        self._connection.execute("COMMIT")
        for point in points:
            self._reach("store.after-commit" + point)

    def _reach(self, point: str) -> None:
        if self._fail is not None:
            self._fail(point)

    def _check_epoch(self) -> None:
        (epoch,) = self._connection.execute("SELECT epoch FROM meta").fetchone()
        if epoch != self._epoch:
            raise taken(read_holder(self.path.parent))

    def _after_success(self) -> None:
        self._checkpoint()
        if self.condition is not StorageCondition.OK and self._ballast.restore():
            self._change(StorageCondition.OK)

    def _checkpoint(self) -> None:
        if self._unsaved > CHECKPOINT_WEIGHT:
            self._unsaved = 0
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _give_back(self) -> None:
        """A slice of free pages; when none is left the log of the writes is emptied too."""
        try:
            self._untidy = give_back_slice(self._connection)
            self._unsaved += SLICE
            if self._untidy:
                self._checkpoint()
            else:
                shorten_log(self._connection)
        except sqlite3.Error as error:
            self._untidy = False
            if condition_after(error, self.path.parent) is None:
                self._after_failure(error)
            # A full disk will be met by the next write; giving room back is not worth the reserve.
            log.warning("free pages are not given back: %s", error)

    def _after_failure(self, error: sqlite3.Error) -> None:
        self._rollback()
        condition = condition_after(error, self.path.parent)
        if condition is None:
            self._die(damage_of(error, self.path))
            return
        self._ballast.drop()
        self._change(condition)
        self._backlog = self._refuse_submissions(self._backlog)

    def _rollback(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            log.warning("a transaction could not be rolled back: %s", error)

    def _change(self, condition: StorageCondition) -> None:
        if condition is not self.condition:
            self.condition = condition
            self._call(self._tell_condition, condition)

    def _die(self, error: CrossDeskError) -> None:
        """Stop writing for good: what cannot be known to be durable is never acknowledged."""
        self._rollback()
        self._untidy = False
        self.error = error
        self._call(self._tell_fatal, error)
        self._tell(self._backlog, error)
        self._backlog = []

    def _tell(self, works: Sequence[Work], error: Exception | None) -> None:
        if works:
            self._call(_resolve, works, error)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        if self._loop is None:
            return
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            log.warning("the event loop ended before it could be told: %s", function.__name__)

    # --- back in the event loop ---

    def _tell_condition(self, condition: StorageCondition) -> None:
        if self.listeners.condition is not None:
            reason = (
                "" if condition is StorageCondition.OK else full_error(self.path.parent, condition).message
            )
            self.listeners.condition(condition, reason)

    def _tell_fatal(self, error: CrossDeskError) -> None:
        if self.listeners.fatal is not None:
            self.listeners.fatal(error)


def _resolve(works: Sequence[Work], error: Exception | None) -> None:
    for work in works:
        if not work.future.done():
            if error is None:
                work.future.set_result(None)
            else:
                work.future.set_exception(error)


def _must_be_kept(work: Work) -> bool:
    """Events of jobs that exist must not be lost; what somebody waits for an answer to can be sent again."""
    return not isinstance(
        work.payload, NewSubmission | Document | Annotating | OutsideChange | RefusedJobs | Tidying
    )


def _weight(payload: Payload) -> int:
    if isinstance(payload, Document | OutsideChange | RefusedJobs | Tidying):
        return 1
    if isinstance(payload, Annotating):
        return len(payload.jobs)
    return len(payload.entries if isinstance(payload, NewSubmission) else payload)


def _points(payloads: Sequence[Payload]) -> list[str]:
    """The plain fail point, then one for each type of event in the transaction."""
    types: dict[str, None] = {}
    for payload in payloads:
        if isinstance(payload, Document | Annotating | OutsideChange | RefusedJobs | Tidying):
            continue
        entries = payload.entries if isinstance(payload, NewSubmission) else payload
        types.update(dict.fromkeys(f":{entry.event.type.value}" for entry in entries))
    return ["", *types]
