"""The event stream: what became durable, told in order, with resume from any position (CB-LB-04)."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Any

import orjson

from broker_core.bookkeeping.entries import EntityEntry, LogEntry
from broker_core.bookkeeping.sqlite.annotations import Annotated
from broker_core.bookkeeping.sqlite.codec import record_row
from broker_core.bookkeeping.store import Store
from broker_core.jobs.annotations import ANNOTATION_COLUMNS
from broker_core.jobs.events import JobEvent, RecordedEvent
from broker_core.jobs.record import JobRecord
from broker_core.jobs.sweep import Sweep
from broker_core.jobs.transitions import EventType
from broker_core.wire.views import JOB_COLUMNS, EventView

PAUSE = 1.0
"""Seconds between two tellings at least."""
KEPT = 20_000
"""Events kept in memory for those who are nearly up to date; older ones are read from the store."""
BATCH = 2_000
"""Events in one message at most."""
GATHER = 0.02
"""Seconds during which events are gathered into one message."""
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent."""
STOPPED = b"event: stopped\ndata: {}\n\n"
"""The last message of a broker that was told to stop."""
COLUMNS = JOB_COLUMNS
_EVENT_FIELDS = tuple(EventView.model_fields)
_EVENT = attrgetter(*_EVENT_FIELDS)
Happened = tuple[JobEvent, JobRecord | None]
"""An event and its job's row; None where the job is gone."""


@dataclass(frozen=True, slots=True)
class Change:
    """The numbers as they were told last."""

    resources: int
    """Of what is known of resources and of the sources of that knowledge."""
    scheduler: int
    """Of the policies in force, and of the queue's order and reasons."""
    sites: int
    """Of what is shown of the sites: their settings, connections and counts."""
    slots: int
    """Of glideins, their slots and what is in these."""


class ChangeTopics:
    """Gathers changes, then raises the numbers and wakes the followers."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self.told = Change(0, 0, 0, 0)
        self._next = Change(0, 0, 0, 0)
        self._timer: asyncio.TimerHandle | None = None
        self._last = float("-inf")

    def resources_changed(self) -> None:
        """Something of the resources or their sources is different."""
        if self._next.resources == self.told.resources:
            self._change(replace(self._next, resources=self.told.resources + 1))

    def scheduler_changed(self) -> None:
        """The policies, or the queue's order or reasons, are different."""
        if self._next.scheduler == self.told.scheduler:
            self._change(replace(self._next, scheduler=self.told.scheduler + 1))

    def sites_changed(self) -> None:
        """Something of the sites is different."""
        if self._next.sites == self.told.sites:
            self._change(replace(self._next, sites=self.told.sites + 1))

    def slots_changed(self) -> None:
        """Something of the glideins or their slots is different."""
        if self._next.slots == self.told.slots:
            self._change(replace(self._next, slots=self.told.slots + 1))

    def close(self) -> None:
        """Tell nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _change(self, to: Change) -> None:
        self._next = to
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._last + PAUSE), self._tell)

    def _tell(self) -> None:
        self._timer = None
        self._last = asyncio.get_running_loop().time()
        self.told = self._next
        self._wake()


class Stream:
    """Followers read at their own pace: a slow one costs no memory, it only lags."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: deque[LogEntry] = deque(maxlen=KEPT)
        self._since = store.position
        self._position = store.position
        self._annotated = store.position
        """No tag or note was changed behind it."""
        self._news = asyncio.Event()
        self.topics = ChangeTopics(self._wake)
        self.watchers: list[Callable[[RecordedEvent], None]] = []
        """Called with each durable event of an entity that is no job."""
        self._closed = False
        self._farewell = b""

    @property
    def position(self) -> int:
        """The last position that was told."""
        return self._position

    def publish(self, entries: Sequence[LogEntry | EntityEntry]) -> None:
        """Tell entries that are durable now, those of jobs; called in the order of their positions."""
        if not entries:
            return
        self._kept.extend(entry for entry in entries if isinstance(entry, LogEntry))
        self._tell_watchers([entry.event for entry in entries if isinstance(entry, EntityEntry)])
        if len(self._kept) == KEPT:
            self._since = self._kept[0].event.position - 1
        self._position = max(self._position, entries[-1].event.position)
        self._wake()

    def _tell_watchers(self, events: Sequence[RecordedEvent]) -> None:
        for event in events:
            for watch in self.watchers:
                watch(event)
        if events:
            self.topics.slots_changed()

    def publish_annotations(self, position: int) -> None:
        """Tell tags and notes that are durable now, the last of them at this position: each follower has
        them read as they are when it comes to them."""
        self._annotated = max(self._annotated, position)
        self._position = max(self._position, position)
        self._wake()

    def publish_sweep(self, sweep: Sweep) -> None:
        """Tell the jobs of a sweep; each follower has them made when it comes to them."""
        self._kept.clear()
        self._since = self._position = sweep.last
        self._wake()

    def stop(self) -> None:
        """End every follower's stream with word that the broker stops on purpose."""
        self._farewell = STOPPED
        self.close()

    def close(self) -> None:
        """End every follower's stream; without a word they look for a broker again."""
        self._closed = True
        self.topics.close()
        self._wake()

    async def follow(self, owner: str, after: int) -> AsyncIterator[bytes]:
        """Server-sent events of one owner's jobs that come after a position, without end."""
        yield b": following\n\n"
        seen = Change(0, 0, 0, 0)
        while not self._closed:
            if after < self._position:
                upto, happened = await self._after(after, owner)
                upto, annotated = await self._annotated_between(after, upto, owner)
                happened = [one for one in happened if one[0].position <= upto]
                after = max(after, upto)
                if happened or annotated:
                    seen = self.topics.told
                    yield message(upto, happened, seen, annotated)
            elif seen != self.topics.told:
                seen = self.topics.told
                yield message(after, (), seen)
            elif not await self._wait():
                yield b": still here\n\n"
        if self._farewell:
            yield self._farewell

    async def _wait(self) -> bool:
        """Wait for news and gather them; False after a silence."""
        news = self._news
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                await news.wait()
        except TimeoutError:
            return False
        if not self._closed:
            await asyncio.sleep(GATHER)
        return True

    async def _after(self, after: int, owner: str) -> tuple[int, list[Happened]]:
        if after < self._since:
            return await self._from_store(after, owner)
        told: list[Happened] = []
        start = bisect_right(self._kept, after, key=_position)
        some = list(islice(self._kept, start, start + 4 * BATCH))
        upto = some[-1].event.position if len(some) == 4 * BATCH else self._position
        for entry in some:
            if entry.event.owner == owner:
                told.append((entry.event, entry.record))
                if len(told) == BATCH:
                    upto = entry.event.position
                    break
        return upto, told

    async def _annotated_between(self, after: int, upto: int, owner: str) -> tuple[int, list[Annotated]]:
        """Tags and notes that were changed between two positions, and how far they reach."""
        if self._annotated <= after:
            return upto, []
        found = await self._store.annotations_between(owner, after, upto, BATCH)
        return (found[-1][0] if len(found) == BATCH else upto), found

    async def _from_store(self, after: int, owner: str) -> tuple[int, list[Happened]]:
        """Events that are not kept in memory any more; rows as they are now."""
        known = self._position
        events = await self._store.events_after(after, owner, BATCH)
        rows = {record.id: record for record in await self._store.jobs([event.job for event in events])}
        upto = events[-1].position if events else 0
        if len(events) < BATCH:
            upto = max(upto, known)
        return upto, [(event, rows.get(event.job)) for event in events]

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


def message(
    upto: int, told: Sequence[Happened], topics: Change, annotated: Sequence[Annotated] = ()
) -> bytes:
    """One server-sent event: an `Update` in JSON whose id is the position to resume from."""
    last = {event.job: (event.type, record) for event, record in told}
    gone = [job for job, (type_, record) in last.items() if type_ is EventType.PURGED or record is None]
    rows = [record for type_, record in last.values() if type_ is not EventType.PURGED and record is not None]
    values = [record_row(record) for record in rows]
    update = {
        "position": upto,
        "events": [event_view(event) for event, _ in told],
        "rows": dict(zip(COLUMNS, map(list, zip(*values, strict=True)), strict=True))
        if values
        else {column: [] for column in COLUMNS},
        "gone": gone,
        "annotated": {
            name: [one[number] for one in annotated]
            for number, name in enumerate(("id", *ANNOTATION_COLUMNS), 1)
        },
        "resources": topics.resources,
        "scheduler": topics.scheduler,
        "sites": topics.sites,
        "slots": topics.slots,
    }
    return b"id: %d\ndata: %b\n\n" % (upto, orjson.dumps(update))


def event_view(event: JobEvent) -> dict[str, Any]:
    """The fields of `EventView`."""
    return dict(zip(_EVENT_FIELDS, _EVENT(event), strict=True))


def _position(entry: LogEntry) -> int:
    return entry.event.position
