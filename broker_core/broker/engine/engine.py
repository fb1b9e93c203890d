"""The engine: carries out what the reactors decide. Store first, sites only after it is durable."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from broker_core.bookkeeping.entries import EntityEntry, LogEntry, NewSubmission
from broker_core.bookkeeping.store import Store
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.engine.site_metrics import SiteMetrics
from broker_core.broker.engine.stream import Stream
from broker_core.jobs.annotations import AnnotationChange
from broker_core.jobs.record import JobRecord
from broker_core.reactor.core import Core
from broker_core.reactor.effect_runner import Carrier, EffectRunner
from broker_core.reactor.entities import RecordEvent
from broker_core.reactor.reactor import TimerFired, Wake
from broker_core.scheduling.effects import Record
from broker_core.scheduling.messages import Arrival, SubmissionRecorded
from broker_core.scheduling.scheduler import Scheduler
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.engine")
SOON = 0.004
"""Seconds that an event for which nothing waits may wait for others to be written with it."""
MANY = 1000
"""Events that are written without waiting for more."""
BURST, SPAN = 2, 0.008
"""Decisions that something waits for are written at once, so often within so many seconds. Those that come
faster are written together: a transaction costs more than the rows of a job."""
_ITS_OWN = frozenset({Record, RecordEvent, Wake})
"""Effects that the engine carries out itself; all others wait until everything recorded before is durable."""


class Engine:
    """One event loop, one core, one store: every change of a live job passes through `post`."""

    def __init__(self, store: Store, core: Core, stream: Stream, fail: FailPoints) -> None:
        self.store = store
        self.core = core
        self.scheduler = core.part(Scheduler)
        """One of the reactors; to be read only."""
        self.stream = stream
        self.figures = SiteMetrics()
        self._fail = fail
        self._carriers: EffectRunner | None = None
        self._held_back: list[object] = []
        self._timer: asyncio.TimerHandle | None = None
        self._last: asyncio.Future[None] | None = None
        self._pending: list[LogEntry | EntityEntry] = []
        self._following: list[object] = []
        """Effects that are carried out when what is pending is durable."""
        self._flush_timer: asyncio.Handle | None = None
        self._flush_at = math.inf
        """Time of the event loop at which that rings. The handle does not know where it rings at once: then
        uvloop's is no TimerHandle."""
        self._flushes: deque[float] = deque([float("-inf")] * BURST, maxlen=BURST)
        """Times of the event loop at which events were written last."""
        self._stopped = False
        self._changes = 0

    def connect(self, carriers: Mapping[type, Carrier]) -> None:
        """Name who carries out the effects that leave the engine, by type; raises NoCarrier for one without.

        Until then they are held back: a site that is still finding its attempts again must not be asked to
        start one of them.
        """
        runner = EffectRunner(carriers)
        runner.require(self.core.gives - _ITS_OWN)
        self._carriers = runner
        held_back, self._held_back = self._held_back, []
        self._send(held_back)

    def post(self, event: object) -> None:
        """Hand an event to the reactors and carry out what follows; nothing is decided after `stop`."""
        if self._stopped:
            return
        effects = self.core.handle(event, now())
        self._tell(effects)
        self._carry_out(effects)

    def _tell(self, effects: Sequence[object]) -> None:
        """Let followers know of what changed beside the jobs themselves."""
        changes = self.scheduler.cache.board.changes
        if changes != self._changes:
            self._changes = changes
            self.stream.topics.resources_changed()
        records = [effect.record for effect in effects if isinstance(effect, Record)]
        if records:
            self.stream.topics.scheduler_changed()
            self.count(records)

    def count(self, records: Sequence[JobRecord]) -> None:
        """Let the figures of the sites follow steps of jobs."""
        before, wall = self.figures.changes, now().wall
        for record in records:
            self.figures.note(record, wall)
        if self.figures.changes != before:
            self.stream.topics.sites_changed()

    def record(
        self, entries: Sequence[LogEntry | EntityEntry], then: Callable[[], None] | None = None
    ) -> asyncio.Future[None]:
        """Write events with their rows; they are told to followers, and `then` is called, when durable."""
        following, whole = self._following, [*self._take_pending(), *entries]
        return self._append(whole, following, then)

    def _append(
        self,
        entries: Sequence[LogEntry | EntityEntry],
        following: Sequence[object],
        then: Callable[[], None] | None = None,
    ) -> asyncio.Future[None]:
        for entry in entries:
            self._fail(f"before:{entry.event.type}")
        future = self.store.append(entries)
        future.add_done_callback(lambda done: self._written(done, entries, following, then))
        self._last = future
        return future

    def record_submission(self, new: NewSubmission, arrivals: tuple[Arrival, ...]) -> asyncio.Future[None]:
        """Write a submission; when durable its jobs are told to followers and to the scheduler.

        Fails with StorageFull and keeps nothing where there is no room (reliability case 6).
        """
        self._flush()
        self._fail("before:submission")
        for entry in new.entries:
            _stamp(entry, self.store.next_position())
        if new.sweeps:
            self._assign_positions(new, arrivals)
        future = self.store.submit(new)
        future.add_done_callback(lambda done: self._submitted(done, new, arrivals))
        self._last = future
        return future

    async def annotate(self, owner: str, jobs: Sequence[str], change: AnnotationChange) -> dict[str, str]:
        """Change tags and notes of an owner's jobs, whatever their states; returns when it is durable, with
        the jobs that were left as they are and why. It is no step of a job: no reactor hears of it.

        Fails with StorageFull and changes nothing where there is no room.
        """
        self._flush()
        wanted, future = self.store.annotate(owner, jobs, change)
        future.add_done_callback(lambda done: self._annotated(done, wanted.last))
        self._last = future
        await asyncio.shield(future)
        return wanted.refused

    def _annotated(self, done: asyncio.Future[None], position: int) -> None:
        if not done.cancelled() and done.exception() is None:
            self.stream.publish_annotations(position)

    def _assign_positions(self, new: NewSubmission, arrivals: tuple[Arrival, ...]) -> None:
        """Give the jobs of sweeps their places in the log."""
        records = {arrival.record.id: arrival.record for arrival in arrivals}
        for sweep, _ in new.sweeps:
            self.store.take_positions(sweep)
            for index, job in enumerate(sweep.ids):
                records[job].position = sweep.place(index)  # type: ignore[misc] # shared with nobody yet

    async def settled(self) -> None:
        """Return when everything recorded so far is durable."""
        self._flush()
        if self._last is not None and not self._last.done():
            await asyncio.wait([self._last])

    def stop(self) -> None:
        """Decide nothing more."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _carry_out(self, effects: list[object]) -> None:
        entries, outside = list[LogEntry | EntityEntry](), list[object]()
        for effect in effects:
            if isinstance(effect, Record):
                entries.append(LogEntry(effect.event, effect.record))
            elif isinstance(effect, RecordEvent):
                entries.append(EntityEntry(effect.event))
            elif isinstance(effect, Wake):
                self._wake_at(effect.at)
            else:
                outside.append(effect)
        if not outside:
            self._write_soon(entries)
        elif entries:
            self._pending += entries
            self._following += outside
            self._flush_in_turn()
        else:
            self._flush()
            if self._last is not None and not self._last.done():
                self._last.add_done_callback(lambda _: self._send(outside))
            else:
                self._send(outside)

    def _write_soon(self, entries: list[LogEntry | EntityEntry]) -> None:
        """Write events that nothing waits for together with what is written next, or in a moment.

        What comes next is written after them, so the log keeps its order.
        """
        self._pending += entries
        if len(self._pending) >= MANY:
            self._flush()
        elif self._pending and self._flush_timer is None:
            self._flush_by(asyncio.get_running_loop().time() + SOON)

    def _flush_in_turn(self) -> None:
        """Write what is pending at once, or in a moment where that was done several times just now."""
        first = self._flushes[0] + SPAN
        if asyncio.get_running_loop().time() >= first:
            self._flush()
        elif self._flush_at > first:
            self._flush_by(first)

    def _flush_by(self, moment: float) -> None:
        self._cancel_timer()
        self._flush_at = moment
        self._flush_timer = asyncio.get_running_loop().call_at(moment, self._flush)

    def _flush(self) -> None:
        following, pending = self._following, self._take_pending()
        if pending:
            self._flushes.append(asyncio.get_running_loop().time())
            self._append(pending, following)

    def _take_pending(self) -> list[LogEntry | EntityEntry]:
        self._cancel_timer()
        pending, self._pending, self._following = self._pending, [], []
        return pending

    def _cancel_timer(self) -> None:
        if self._flush_timer is not None:
            self._flush_timer.cancel()
            self._flush_timer, self._flush_at = None, math.inf

    def _send(self, outside: Sequence[object]) -> None:
        if self._stopped:
            return
        if self._carriers is None:
            self._held_back += outside
        else:
            self._carriers.run(outside)

    def _wake_at(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(loop.time() + moment - now().monotonic, self.post, TimerFired())

    def _written(
        self,
        done: asyncio.Future[None],
        entries: Sequence[LogEntry | EntityEntry],
        following: Sequence[object],
        then: Callable[[], None] | None,
    ) -> None:
        if done.cancelled() or (error := done.exception()) is not None:
            log.error("Events were not kept: %s", "cancelled" if done.cancelled() else error)
            return
        for entry in entries:
            self._fail(f"after:{entry.event.type}")
        self.stream.publish(entries)
        if following:
            self._send(following)
        if then is not None:
            then()

    def _submitted(
        self, done: asyncio.Future[None], new: NewSubmission, arrivals: tuple[Arrival, ...]
    ) -> None:
        if done.cancelled() or done.exception() is not None:
            return
        self._fail("after:submission")
        if new.annotations:
            self.stream.publish_annotations(new.last)
        self.stream.publish(new.entries)
        for sweep, _ in new.sweeps:
            self.stream.publish_sweep(sweep)
        self.post(SubmissionRecorded(arrivals))


def _stamp(entry: LogEntry, position: int) -> None:
    """Give an entry its place in the log, at the moment when it is given to the store.

    The objects are shared with nobody yet, and making 10,000 of them anew would block the loop.
    """
    object.__setattr__(entry.event, "position", position)
    object.__setattr__(entry.record, "position", position)
