"""Exclusive temporal access to computing elements (CB-CACHE-04, CB-CACHE-06)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lock:
    """Who may be matched with a computing element alone, and until when at the latest."""

    owner: str
    """Job id."""
    until: float
    """Monotonic."""


class Locks:
    """Locks over sets of computing elements: all of a set or none, which is what makes deadlock impossible.

    A job that had locked a part of its set and waited for the rest could face another with the rest that
    waits for this part. Here nobody waits while holding anything.
    """

    def __init__(self) -> None:
        self._locks: dict[str, Lock] = {}
        self._of_job: dict[str, set[str]] = {}

    def holder(self, ce: str, now: float) -> Lock | None:
        """The lock on a computing element that is in force."""
        lock = self._locks.get(ce)
        return lock if lock is not None and now < lock.until else None

    def take(self, ces: Collection[str], job: str, now: float, interval: float) -> bool:
        """Lock all of a set for a job, or nothing where another job has one of them."""
        wanted = sorted(ces)
        for ce in wanted:
            lock = self.holder(ce, now)
            if lock is not None and lock.owner != job:
                return False
        for ce in wanted:
            self.end(ce)
            self._locks[ce] = Lock(job, now + interval)
            self._of_job.setdefault(job, set()).add(ce)
        return True

    def end(self, ce: str) -> None:
        """Lift the lock on a computing element."""
        lock = self._locks.pop(ce, None)
        if lock is not None:
            mine = self._of_job[lock.owner]
            mine.discard(ce)
            if not mine:
                del self._of_job[lock.owner]

    def of_job(self, job: str) -> Collection[str]:
        """Computing elements that a job has locked, or had until its time was up."""
        return self._of_job.get(job, ())
