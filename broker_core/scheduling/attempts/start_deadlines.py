"""Starts that sites owe: of attempts that run by their word (SA-LCH-07), of interactive ones in a queue."""

from __future__ import annotations

import math
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.live_job import AtSite, LiveJob
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.state import SchedulerState


class StartDeadlines:
    """Asks the site to end such an attempt; only when it has ended the next choice is tried, so that no two
    of them are ever alive. Time without contact to the site does not count."""

    def __init__(self, state: SchedulerState, fences: Fences, selector: Selector) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._fences = fences
        self._selector = selector
        rules = state.rules
        self._running = _Owed(
            rules.start_confirmed,
            lambda job: job.runs_since,
            "{site} runs it by its own word, but no start was confirmed within {limit:g} s",
        )
        self._queued = _Owed(
            rules.interactive_start,
            _queued_since,
            "{site} has not started it within {limit:g} s, it waits in the queue there",
        )
        self._could_start = _Owed(
            rules.interactive_elsewhere,
            _queued_since,
            "{site} has not started it within {limit:g} s, and it can start elsewhere",
        )
        self._all = self._running, self._could_start, self._queued
        self.pending = self._running.jobs, self._queued.jobs
        """By its id each job whose start may be owed, in two parts."""

    def runs(self, job: LiveJob) -> None:
        """The site says from now on that it runs a job's attempt."""
        self._update(job, runs_since=self._jobs.now.monotonic)
        self._running.add(job)

    def queued(self, job: LiveJob) -> None:
        """The site has a job's attempt from now on; an interactive one does not wait there (CB-SCH-08)."""
        if job.record.interactive:
            self._update(job, queued_since=self._jobs.now.monotonic)
            self._queued.add(job)
            self._could_start.add(job)

    def contact(self, ces: Container[str]) -> None:
        """A site is in contact again: it has all its time to tell."""
        for owed in self._all:
            for job in [one for one in owed.jobs.values() if any(ce in ces for ce in one.ces)]:
                self._grant(owed, job)

    def enforce(self) -> None:
        """Give up what is overdue."""
        now = self._jobs.now.monotonic
        for owed in self._all:
            while owed.next() <= now and (job := owed.first()) is not None:
                if not self._cache.reachable(job.ces[0]):
                    self._grant(owed, job)
                    continue
                del owed.jobs[job.id]
                if owed is not self._could_start or self._has_choice(job):
                    self._give_up(job, owed)

    def next(self) -> float:
        """When the first of them is overdue; infinity: never."""
        return min(owed.next() for owed in self._all)

    def _update(self, job: LiveJob, **facts: Any) -> None:
        if isinstance(job.attempt, AtSite):
            job.attempt = replace(job.attempt, **facts)

    def _grant(self, owed: _Owed, job: LiveJob) -> None:
        self.runs(job) if owed is self._running else self.queued(job)

    def _has_choice(self, job: LiveJob) -> bool:
        """Free processors, or slots, are there for it now, but not where it is."""
        excluded = job.excluded.union(job.ces)
        return self._selector.choose(job.demand, excluded, self._jobs.now.monotonic) is not None

    def _give_up(self, job: LiveJob, owed: _Owed) -> None:
        why = owed.words.format(site=job.sites, limit=owed.limit)
        self._update(job, given_up=why)
        reason = f"{why}; once the attempt has ended there, the next choice is tried"
        self._jobs.note(job, EventType.START_OVERDUE, resources=job.ces, reason=reason)
        self._fences.end(job.record)
        for one in self._all:
            one.jobs.pop(job.id, None)


def _queued_since(job: LiveJob) -> float | None:
    return job.queued_since if job.runs_since is None else None


class _Owed:
    """Jobs whose start may be owed, in the order of their times."""

    def __init__(self, limit: float, since: Callable[[LiveJob], float | None], words: str) -> None:
        """`since`: monotonic time from which its seconds count, None for a job that moved on."""
        self.limit, self.words = limit, words
        self._since = since
        self.jobs: dict[str, LiveJob] = {}

    def add(self, job: LiveJob) -> None:
        """A job whose time counts from now."""
        self.jobs.pop(job.id, None)
        self.jobs[job.id] = job

    def first(self) -> LiveJob | None:
        """The one that is owed for longest; those that moved on meanwhile are dropped."""
        while self.jobs:
            job = next(iter(self.jobs.values()))
            if job.record.state is JobState.SCHEDULED and self._since(job) is not None:
                return job
            del self.jobs[job.id]
        return None

    def next(self) -> float:
        """When it is overdue; infinity: never."""
        job = self.first()
        since = None if job is None else self._since(job)
        return math.inf if since is None else since + self.limit
