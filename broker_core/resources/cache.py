"""The Resource Cache: all that is known of the resources, and what was given out of them (CB-CACHE)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Sequence

from broker_core.jobs.placement import computing_element
from broker_core.resources.commitments import Commitment, Commitments
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.facts import SHARED_NODES, Facts, SourceHeard
from broker_core.resources.links import Links, is_of
from broker_core.resources.locks import Lock, Locks
from broker_core.resources.marks import Faults
from broker_core.resources.observation import Shelf, merged
from broker_core.resources.pool import NO_ACCESS, Exclusion, Pool
from broker_core.resources.reputation import Reputation
from broker_core.resources.resource_table import ResourceTable
from broker_core.resources.storage import Storage
from broker_core.resources.values import facts as values_of

_STALE = Exclusion("stale", "no source has spoken of it for three intervals or more", now_only=True)


class ResourceCache:
    """Pure: every moment is of the monotonic clock and comes in with the call.

    *Locks.* A computing element known from an index alone, whose figures are minutes old and hide what
    others do, is locked for one job for the whole of `exclusive_interval`. Where the broker has an account,
    three things do the work of that lock between jobs that each use one computing element: the commitment
    is made in the same step as the choice, so the next choice sees it; it lasts until the attempt is over;
    and a site that is full keeps the job in its queue. Such jobs therefore take no lock there, and
    thousands a second can be sent to one site without waiting for its answers. What they must respect is
    the lock of a job over a set: it holds every member until the site of the last one has answered.
    """

    def __init__(
        self,
        exclusive_interval: float = 120.0,
        first_bad_period: float = 5.0,
        temp_bad_period: float = 600.0,
        *,
        access_needed: bool = False,
        reputation: Reputation | None = None,
    ) -> None:
        self._interval = exclusive_interval
        self._access_needed = access_needed
        self._shelf = Shelf()
        self._names: dict[str, str] = {}
        self._of_source: dict[str, set[str]] = {}
        self._named: dict[str, set[str]] = {}
        """What the answer in hand has named so far, by source."""
        self._commitments = Commitments()
        self._locks = Locks()
        self._held: dict[str, int] = {}
        """CPUs that our own glideins hold for no batch job, by computing element."""
        self._watch: list[tuple[float, str]] = []
        self.troubles = Faults(first_bad_period, temp_bad_period)
        self.reputation = reputation or Reputation(900.0, 10.0, temp_bad_period)
        """How computing elements treated their jobs lately."""
        self.storage = Storage()
        """Storage elements that sources tell of."""
        self.links = Links()
        """Sites to which no jobs can be sent now."""
        self.board = ResourceTable()
        """The pool with its counters of changes."""
        self.entries: dict[str, ResourceEntry] = {}
        """By computing element; to be read only."""

    def pool(self, now: float) -> Pool:
        """What a match looks at now. The same object every time, kept up to date."""
        watch = self._watch
        while watch and watch[0][0] <= now:
            entry = self.entries.get(heapq.heappop(watch)[1])
            if entry is not None:
                entry.watched = None
                self._look(entry, now)
        return self.board.pool

    def next_change(self, now: float) -> float:
        """When a lock or a mark ends, or an entry is stale, at the earliest; infinity: never."""
        return max(now, self._watch[0][0]) if self._watch else math.inf

    # --- what sources say

    def report(self, said: SourceHeard) -> None:
        """Merge all that a source said at once."""
        self.merge(said, said.facts)
        self.close(said)

    def merge(self, said: SourceHeard, part: Sequence[Facts]) -> None:
        """Merge a part of what a source said."""
        known = self._of_source.setdefault(said.source, set())
        named = self._named.setdefault(said.source, set())
        for facts in part:
            ce = self._names.setdefault(computing_element(facts.ce).identity, facts.ce)
            known.add(ce)
            named.add(ce)
            self._hear(ce, facts, said)

    def close(self, said: SourceHeard) -> None:
        """After the last part: what a complete answer does not name has gone, silent sites excepted."""
        named = self._named.pop(said.source, set())
        if said.complete:
            known = self._of_source.setdefault(said.source, set())
            for ce in known.difference(named):
                if self.entries[ce].site not in said.silent:
                    known.discard(ce)
                    self._unhear(ce, said)
        if self.storage.heard(said):
            self.board.tell()
        self.board.settle()

    def _hear(self, ce: str, facts: Facts, said: SourceHeard) -> None:
        entry = self.entries.get(ce)
        fresh = entry is None
        if entry is None:
            entry = self.entries[ce] = ResourceEntry(ce, facts.site)
        before = entry.hearings.get(said.source)
        hearing = entry.hearings[said.source] = self._shelf.hearing(facts, said)
        entry.hear()
        if fresh or before is None or entry.site != facts.site or not hearing.same_facts(before):
            entry.site = facts.site
            self._describe(entry)
        self._published(entry, said)
        self.troubles.healthy(ce)
        self._look(entry, said.monotonic)

    def _unhear(self, ce: str, said: SourceHeard) -> None:
        entry = self.entries[ce]
        del entry.hearings[said.source]
        if entry.hearings:
            entry.hear()
            self._describe(entry)
            self._published(entry, said)
            self._look(entry, said.monotonic)
        else:
            del self.entries[ce], self._names[computing_element(ce).identity]
            self.board.remove(entry)
            self._tell_beside(entry)

    def _describe(self, entry: ResourceEntry) -> None:
        """Merge the attributes anew; one entry after the other, each costs about a tenth of a ms."""
        attributes = merged(list(entry.hearings.values()))
        self.board.describe(entry, values_of(attributes, entry.ce, entry.site))
        beside = attributes.get(SHARED_NODES)
        entry.beside = frozenset(map(str, beside)) if isinstance(beside, tuple | list) else frozenset()

    def _published(self, entry: ResourceEntry, said: SourceHeard) -> None:
        commitments = self._commitments.at(entry.ce)
        entry.given = sum(one.cpus for one in commitments.values()) if commitments else 0
        waiting = [one.cpus for one in commitments.values() if not one.runs] if commitments else ()
        entry.own_waiting, entry.waiting_cpus = len(waiting), sum(waiting)
        entry.held, visible = self._held.get(entry.ce, 0), entry.given
        if not entry.account:
            visible = self._commitments.made_before(entry.ce, said.monotonic - self._interval)
        entry.saw(visible)
        entry.history.add(said.time, entry.published_free, entry.waiting, len(self.entries))
        entry.taken_beside = self._taken_beside(entry)
        self.board.count(entry)
        self._tell_beside(entry)

    def _taken_beside(self, entry: ResourceEntry) -> int:
        return sum(one.unpublished for one in map(self.entries.get, entry.beside) if one is not None)

    def _tell_beside(self, entry: ResourceEntry) -> None:
        """What was given out at one computing element is free no longer at those with the same nodes."""
        for ce in entry.beside:
            other = self.entries.get(ce)
            if other is None:
                continue
            before, other.taken_beside = other.taken_beside, self._taken_beside(other)
            if other.taken_beside != before:
                self.board.give(other)
            if other.taken_beside < before:
                self.board.raised.add(other.row)

    def forget(self, now: float) -> None:
        """Without a cache (CB-CACHE-09): nothing is known until a source speaks again."""
        for entry in self.entries.values():
            entry.due = min(entry.due, now)
            self._look(entry, now)

    # --- what the broker gives out

    def commit(self, ce: str, job: str, cpus: int, now: float) -> None:
        """Give CPUs to a job; they are not free until it has returned (CB-CACHE-05)."""
        self._commitments.add(ce, job, cpus, now)
        self._change(ce, cpus, 1)
        self._heed_limit(ce, 1, now)
        if ce in self.reputation.throttled:
            self._look_at((ce,), now)

    def release(self, job: str, now: float) -> None:
        """The attempt of a job is over, or its submission failed: commitments and locks end at once."""
        for ended in self._commitments.end(job):
            self._change(ended.ce, -ended.cpus, 0 if ended.runs else -1)
            if ended.runs and (entry := self.entries.get(ended.ce)) is not None:
                entry.turnaround = now - ended.since
            self._heed_limit(ended.ce, -1, now)
            if ended.ce in self.reputation.throttled:
                self._look_at((ended.ce,), now)
        locked = self._locks.of_job(job)
        if locked:
            self._unlock(list(locked), now)

    def hold(self, ce: str, cpus: int) -> None:
        """So many CPUs more, or fewer, are held by our own glideins for no batch job (`SpareMachines`)."""
        self._held[ce] = self._held.get(ce, 0) + cpus
        self.board.held += cpus
        if (entry := self.entries.get(ce)) is not None:
            entry.held = self._held[ce]
            self.board.give(entry)
            self._tell_beside(entry)

    def started(self, job: str) -> None:
        """The application of a job runs: it waits at no site any more."""
        for one in self._commitments.of_job(job):
            if not one.runs:
                one.runs = True
                entry = self.entries.get(one.ce)
                if entry is not None:
                    entry.own_waiting -= 1
                    entry.waiting_cpus -= one.cpus
                    self.board.queue(entry)

    def _heed_limit(self, ce: str, jobs: int, now: float) -> None:
        """A site whose owner limits the jobs there is barred as a whole while it has them."""
        if site := self.links.count(ce, jobs):
            self._look_at(self.of_site(site), now)

    def _change(self, ce: str, cpus: int, waiting: int) -> None:
        entry = self.entries.get(ce)
        if entry is not None:
            entry.given += cpus
            entry.own_waiting += waiting
            entry.waiting_cpus += cpus if waiting else 0
            if cpus < 0 and waiting:
                entry.waited_in_vain()
            self.board.give(entry)
            if cpus < 0:
                self.board.raised.add(entry.row)
            if entry.beside:
                self._tell_beside(entry)

    def lock(self, ces: Sequence[str], job: str, now: float) -> bool:
        """Get exclusive access to all of a set, or to nothing (CB-CACHE-06)."""
        if len(ces) == 1 and self._has_account(ces[0]):
            return self._locks.holder(ces[0], now) is None
        if not self._locks.take(ces, job, now, self._interval):
            return False
        self._look_at(ces, now)
        return True

    def answered(self, job: str, now: float) -> None:
        """The sites' answer to the submission is recorded: from now on commitments alone count there."""
        locked = self._locks.of_job(job)
        if locked:
            self._unlock([ce for ce in locked if self._has_account(ce)], now)

    def lock_of(self, ce: str, now: float) -> Lock | None:
        """The lock in force on a computing element."""
        return self._locks.holder(ce, now)

    def _unlock(self, ces: Sequence[str], now: float) -> None:
        for ce in ces:
            self._locks.end(ce)
        self._look_at(ces, now)

    def _has_account(self, ce: str) -> bool:
        entry = self.entries.get(ce)
        return entry is not None and entry.account

    # --- marks

    def failed(self, ce: str, now: float, reason: str, *, counts: bool = True, down: bool = False) -> None:
        """A computing element did not take an attempt: leave it alone for a while (CB-CACHE-08)."""
        if down:
            self.troubles.down(ce, now, reason)
        else:
            self.troubles.failed(ce, now, reason, counts=counts)
        self._look_at((ce,), now)

    def worked(self, ce: str, now: float) -> None:
        """A computing element took an attempt: its failures are forgotten."""
        if self.troubles.worked(ce):
            self._look_at((ce,), now)

    def link_changed(
        self, site: str, state: str, reason: str, now: float, *, usable: bool, most: int = 0
    ) -> None:
        """The connection to a site is another one. One that is back is used at once: what was known of it
        counts for an interval more, in which its source speaks again. `most`: jobs that may be there."""
        self.links.told(site, state, reason, usable=usable)
        self.links.limit(site, most)
        for entry in self.entries.values():
            if is_of(entry, site):
                if usable:
                    entry.due = max(entry.due, now + self._interval)
                    self.troubles.reached(entry.ce)
                self._look(entry, now)

    def awaited(self, site: str) -> list[str]:
        """Sites, or this one alone, that may soon say what they have: they are being connected, or have just
        been, or their slots are not known yet."""
        new = {*self.links.connecting(), *(one for one in self.links.connected() if not self.of_site(one))}
        return [one for one in sorted(new | self.links.slots_unheard) if site in ("", one)]

    def unheard(self, site: str) -> str:
        """Why nothing is known of a site, with its name; empty where something is."""
        if not site or site in self.entries or self.of_site(site):
            return ""
        return f"{site}: {self.links.why(site)}"

    def reachable(self, ce: str) -> bool:
        """False for a computing element of a site to which no jobs can be sent."""
        entry = self.entries.get(ce)
        return entry is None or self.links.at(entry) is None

    def site_of(self, ce: str) -> str:
        """Name of the site of a computing element."""
        entry = self.entries.get(ce)
        return computing_element(ce).site if entry is None else entry.site

    def of_site(self, site: str) -> list[str]:
        """Computing elements of a site."""
        return [entry.ce for entry in self.entries.values() if is_of(entry, site)]

    def heed(self, now: float) -> None:
        """Take over what the reputation learned."""
        if self.reputation.changed:
            changed, self.reputation.changed = self.reputation.changed, set()
            self._look_at(changed, now)

    def commitments_at(self, ce: str) -> dict[str, Commitment]:
        """Job to what it has of a computing element."""
        return dict(self._commitments.at(ce))

    def _look_at(self, ces: Collection[str], now: float) -> None:
        for ce in ces:
            entry = self.entries.get(ce)
            if entry is not None:
                self._look(entry, now)

    def _look(self, entry: ResourceEntry, now: float) -> None:
        """Bar an entry or not, as things are; and look again when that may change by itself."""
        self.board.bar(entry, self._bar(entry, now))
        moment = min(self._moments(entry, now), default=None)
        if moment is not None and (entry.watched is None or moment < entry.watched):
            entry.watched = moment
            heapq.heappush(self._watch, (moment, entry.ce))

    def _bar(self, entry: ResourceEntry, now: float) -> Exclusion | None:
        if self._access_needed and not entry.account:
            return NO_ACCESS
        closed = self.links.at(entry)
        if closed is not None:
            return Exclusion("status", closed.told, now_only=True)
        if most := self.links.full(entry.ce):
            jobs = "the one job" if most == 1 else f"the {most} jobs"
            return Exclusion("status", f"it has {jobs} that its settings allow", now_only=True)
        if now >= entry.due:
            return _STALE
        trouble = self.troubles.at(entry.ce, now)
        if trouble is not None:
            state = "is down" if trouble.down else "failed lately and is tried again soon"
            return Exclusion("status", f"it {state}: {trouble.reason}", now_only=True)
        throttle = self.reputation.at(entry.ce, now)
        if throttle is not None:
            there = len(self._commitments.at(entry.ce))
            if now < throttle.next or there >= throttle.most:
                return Exclusion(
                    "status", f"it fails its jobs and gets few: {throttle.reason}", now_only=True
                )
        lock = self._locks.holder(entry.ce, now)
        if lock is not None:
            return Exclusion(
                "lock", f"job {lock.owner} has exclusive access to it for a moment", now_only=True
            )
        return None

    def _moments(self, entry: ResourceEntry, now: float) -> Iterator[float]:
        lock = self._locks.holder(entry.ce, now)
        if lock is not None:
            yield lock.until
        trouble = self.troubles.at(entry.ce, now)
        if trouble is not None and trouble.until > now:
            yield trouble.until
        throttle = self.reputation.at(entry.ce, now)
        if throttle is not None:
            yield throttle.next if throttle.next > now else throttle.until
        if entry.due > now:
            yield entry.due
