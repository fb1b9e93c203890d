"""Starts that are not confirmed although the site says that it runs the attempt (SA-LCH-07)."""

from __future__ import annotations

import math
from collections.abc import Container

from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.resources.cache import ResourceCache
from broker_core.scheduling.fencing import Fences
from broker_core.scheduling.ledger import Ledger
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.rules import Rules


class OverdueStarts:
    """Asks the site to end such an attempt; only when it has ended the next choice is tried, so that no two
    of them are ever alive. Time without contact to the site does not count."""

    def __init__(self, ledger: Ledger, cache: ResourceCache, fences: Fences, rules: Rules) -> None:
        self._ledger = ledger
        self._cache = cache
        self._fences = fences
        self._limit = rules.start_confirmed
        self.owed: dict[str, LiveJob] = {}
        """Jobs whose start may be owed, in the order of their times; to be read only."""

    def watch(self, job: LiveJob) -> None:
        """The site says from now on that it runs a job's attempt."""
        job.runs_since = self._ledger.now.monotonic
        self.owed.pop(job.id, None)
        self.owed[job.id] = job

    def contact(self, ces: Container[str]) -> None:
        """A site is in contact again: it has all its time to tell."""
        for job in [one for one in self.owed.values() if any(ce in ces for ce in one.ces)]:
            self.watch(job)

    def look(self) -> None:
        """Give up what is overdue."""
        now = self._ledger.now.monotonic
        while (job := self._first()) is not None and self._since(job) + self._limit <= now:
            if self._cache.reachable(job.ces[0]):
                del self.owed[job.id]
                self._give_up(job)
            else:
                self.watch(job)

    def next(self) -> float:
        """When the first of them is overdue; infinity: never."""
        job = self._first()
        return math.inf if job is None else self._since(job) + self._limit

    def _first(self) -> LiveJob | None:
        """The one that is owed for longest; those that moved on meanwhile are dropped."""
        while self.owed:
            job = next(iter(self.owed.values()))
            if job.record.state is JobState.SCHEDULED and job.runs_since is not None:
                return job
            del self.owed[job.id]
        return None

    def _since(self, job: LiveJob) -> float:
        return self._ledger.now.monotonic if job.runs_since is None else job.runs_since

    def _give_up(self, job: LiveJob) -> None:
        where = site_name(job.ce)
        job.given_up = f"{where} runs it by its own word, but no start was confirmed within {self._limit:g} s"
        reason = f"{job.given_up}; once the attempt has ended there, the next choice is tried"
        self._ledger.note(job, EventType.START_OVERDUE, resources=job.ces, reason=reason)
        self._fences.end(job.record, job.ce)
