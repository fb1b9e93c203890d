"""One computing element in the Resource Cache."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field

from broker_core.resources.observation import Observation, counts_of

DAY = 86_400.0
LEAST = 55.0
"""Seconds between two points."""
POINTS = 1440
"""Points kept of one computing element, as long as there are few of them."""
ROOM = 2_000_000
"""Points kept of all together: 32 MB."""


class History:
    """Moments with the counts published then; bounded, at most a day."""

    __slots__ = ("free", "times", "waiting")

    def __init__(self) -> None:
        self.times = array("d")
        """Seconds since the epoch, oldest first."""
        self.free = array("i")
        self.waiting = array("i")

    def add(self, time: float, free: int, waiting: int, known: int) -> None:
        """Keep a point; `known`: computing elements that share the room."""
        if self.times and 0 <= time - self.times[-1] < LEAST:
            return
        self.times.append(time)
        self.free.append(min(free, 2**31 - 1))
        self.waiting.append(min(waiting, 2**31 - 1))
        if len(self.times) > _most(known) or self.times[0] < time - DAY:
            self._shorten(time, known)

    def _shorten(self, time: float, known: int) -> None:
        """Drop what is too old, and a tenth of the rest where there are too many."""
        most = _most(known)
        drop = len(self.times) - most + most // 10 if len(self.times) > most else 0
        while drop < len(self.times) and self.times[drop] < time - DAY:
            drop += 1
        for column in (self.times, self.free, self.waiting):
            del column[:drop]


def _most(known: int) -> int:
    return max(12, min(POINTS, ROOM // max(1, known)))


@dataclass(slots=True)
class ResourceEntry:
    """What the sources say of a computing element, and what was given out of it since.

    A site's published figure counts a job of ours only some time after we chose it. `seen` is the part of
    `given` that the figure can count already, so that no processor is taken off twice and none is given
    out twice (CB-CACHE-06).
    """

    ce: str
    site: str
    row: int = -1
    """Row in the pool."""
    hearings: dict[str, Observation] = field(default_factory=dict)
    """By source."""
    account: bool = False
    """Jobs can be sent there: the site itself is heard through an account of the user."""
    due: float = 0.0
    """When it is stale, monotonic: no source has spoken of it for too long."""
    heard: float = 0.0
    """When a source last spoke of it, seconds since the epoch."""
    total: int = 0
    published_free: int = 0
    running: int = 0
    waiting: int = 0
    """Jobs waiting there, as published."""
    given: int = 0
    """CPUs committed to jobs of this broker."""
    seen: int = 0
    """CPUs of commitments that the published figure counts."""
    held: int = 0
    """CPUs that the broker's own glideins hold for no batch job."""
    held_seen: int = 0
    """CPUs of commitments and of these glideins together that the published figure counts."""
    own_waiting: int = 0
    """Jobs of this broker that are committed and do not run yet."""
    waiting_cpus: int = 0
    """CPUs that these ask for."""
    turnaround: float = math.inf
    """Seconds from the choice to the end of the job that ran there last."""
    beside: frozenset[str] = frozenset()
    """Computing elements that have nodes in common with it."""
    taken_beside: int = 0
    """CPUs given out there that no figure counts yet."""
    watched: float | None = None
    """The next moment at which its bar is looked at again."""
    history: History = field(default_factory=History)

    @property
    def balance(self) -> int:
        """Free CPUs less those given out; below 0 where jobs of ours wait for CPUs."""
        return self.published_free - self.given + self.seen - self.taken_beside

    @property
    def unpublished(self) -> int:
        """CPUs that jobs of ours may have taken since the figures were made; those that wait take none."""
        return max(0, min(self.given + self.held - self.held_seen, self.published_free))

    @property
    def free(self) -> int:
        """Effective free CPUs (CB-CACHE-06)."""
        balance = self.published_free - self.given + self.seen - self.taken_beside
        if balance > self.total:
            return self.total
        return balance if balance > 0 else 0

    @property
    def bare(self) -> int:
        """Free CPUs that the batch system would give out at once: those of `held` come with a slot only."""
        if not self.held and self.held_seen == self.seen:
            return self.free
        taken = self.given + self.held - self.held_seen + self.taken_beside
        return max(0, min(self.published_free - taken, self.total))

    @property
    def queue(self) -> int:
        """Waiting jobs that count for the longest queue: our own at sites that we use, else all.

        Of our own not those for which CPUs are free: they start as soon as the site has them.
        """
        if not self.account:
            return self.waiting
        waiting = self.own_waiting
        if not waiting:
            return 0
        # Of what is given out, what runs by now is free no longer, though a report may not say so yet.
        taken = self.given - self.seen - self.waiting_cpus
        free = self.published_free - taken if taken > 0 else self.published_free
        if free <= 0:
            return waiting
        short = self.waiting_cpus - free
        return waiting * short // self.waiting_cpus if short > 0 else 0

    def hear(self) -> None:
        """Take counts and times over from the hearings."""
        hearings = list(self.hearings.values())
        self.account = any(hearing.account for hearing in hearings)
        self.due = max(hearing.due for hearing in hearings)
        self.heard = max(hearing.time for hearing in hearings)
        self.total, self.published_free, self.running, self.waiting = counts_of(hearings)

    def saw(self, visible: int) -> None:
        """CPUs given out that the published figures may count; no more than are in use there at all."""
        busy = max(0, self.total - self.published_free)
        self.seen = min(visible, self.given, busy)
        self.held_seen = min(visible + self.held, busy)

    def waited_in_vain(self) -> None:
        """A job of ours that waited is gone: it took no CPU, so none is free for that."""
        self.seen = min(self.seen, self.given)
        self.held_seen = min(self.held_seen, self.given + self.held)
