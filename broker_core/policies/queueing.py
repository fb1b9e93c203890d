"""In which order waiting jobs are tried, and which of them may be passed by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Job = TypeVar("Job")


def first_come(
    queue: Iterable[Job], reach: Callable[[Job], frozenset[str]], placed: Callable[[Job], bool]
) -> Iterator[Job]:
    """First come, first served (CB-SCH-07): yield each job that was placed, in order of arrival.

    `reach` names the resources that a job could use if they were idle. A job that cannot start now holds back
    the later ones that share one of its resources; a job that no known resource can serve holds back nobody.
    """
    taken: set[str] = set()
    for job in queue:
        able = reach(job)
        if not able or not able.isdisjoint(taken):
            taken |= able
        elif placed(job):
            yield job
        else:
            taken |= able
