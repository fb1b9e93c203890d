"""Who may pass whom in the queue of pending requests (CB-SCH-07, CB-SCH-09).

The scheduler goes through its queue in order of arrival. A job that finds no place is told to the policy,
which may let later jobs try; a job that would be held back is not tried at all. Which jobs compete for the
same resources the scheduler knows itself: the policy is asked only about jobs behind one that they could
take something from, and of several such ones only about the first. Interactive jobs never queue (CB-SCH-08),
so that no policy hears of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

FCFS = "fcfs"
"""The queue policy that a broker has unless told otherwise."""


class QueuePolicy(Protocol):
    """Decides about the jobs behind one that cannot start; keeps what it gave away while that one waits."""

    def blocked(self, head: str, cpus: int) -> None:
        """Job `head`, which needs so many CPUs, cannot start now; said in every round in which it cannot."""
        ...

    def passes(self, head: str, cpus: int) -> bool:
        """May a job of so many CPUs, which arrived later, be tried before `head`?"""
        ...

    def passed(self, head: str, cpus: int) -> None:
        """A job of so many CPUs started before `head`."""
        ...

    def gone(self, head: str) -> None:
        """Job `head` started, or waits no more."""
        ...


class Fcfs:
    """First come, first served: a job that cannot start holds back those behind it."""

    def blocked(self, head: str, cpus: int) -> None:
        """Nothing is kept."""

    def passes(self, head: str, cpus: int) -> bool:
        """Nobody may pass."""
        return False

    def passed(self, head: str, cpus: int) -> None:
        """Nobody does."""

    def gone(self, head: str) -> None:
        """Nothing was kept."""


@dataclass(slots=True)
class BoundedBackfill:
    """Later jobs may start before one that cannot, with as many CPUs in all as it needs itself.

    What is left of that budget is not filled up again while the job waits, so that it cannot starve.
    """

    budgets: dict[str, int] = field(default_factory=dict)
    """CPUs that may still be given away before each blocked job."""

    def blocked(self, head: str, cpus: int) -> None:
        """The budget is set when the job is blocked first."""
        self.budgets.setdefault(head, cpus)

    def passes(self, head: str, cpus: int) -> bool:
        """Yes, within the budget."""
        return cpus <= self.budgets.get(head, 0)

    def passed(self, head: str, cpus: int) -> None:
        """Take the CPUs off the budget."""
        self.budgets[head] = self.budgets.get(head, 0) - cpus

    def gone(self, head: str) -> None:
        """The budget of the next blocked job is its own."""
        self.budgets.pop(head, None)


QUEUES: dict[str, Callable[[], QueuePolicy]] = {FCFS: Fcfs, "bounded-backfill": BoundedBackfill}
"""Queue policies by the name under which they are chosen."""
