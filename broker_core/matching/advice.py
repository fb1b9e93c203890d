"""The smallest change that would make a description match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from broker_core.jdl.description import JobDescription
from broker_core.matching.clauses import Clause

if TYPE_CHECKING:
    from broker_core.matching.match import Rejected


_NOT_OURS = 10
"""Effort of what the owner of the job cannot change."""


def advise(description: JobDescription, rejected: Sequence[Rejected]) -> str:
    """One sentence: what to change, and how many resources that gives."""
    if not rejected:
        return "No resource is known yet."
    waiting = sum(one.now_only for one in rejected)
    if waiting:
        return f"{waiting} of {len(rejected)} would match when idle; the job waits for that."
    sets = Counter(_changes(one.clauses) for one in rejected)
    changes, count = min(sets.items(), key=lambda item: (_effort(item[0]), -item[1], item[0]))
    needed = [text for origin, _, text in changes if _effort(((origin, 0, text),)) >= _NOT_OURS]
    if needed:
        return f"A site is needed that {' and '.join(needed)}; none of the {len(rejected)} known does."
    done = " and ".join(_in_words(description, change, rejected) for change in changes)
    return f"{done[:1].upper()}{done[1:]} gives {count} of {len(rejected)}."


def _changes(found: Sequence[Clause]) -> tuple[tuple[str, int, str], ...]:
    """(origin, number among the clauses of Requirements or 0, text) of each lasting obstacle."""
    number = 0
    result = []
    for clause in found:
        number += clause.origin == "requirements"
        if not clause.holds and not clause.now_only:
            result.append((clause.origin, number if clause.origin == "requirements" else 0, clause.text))
    return tuple(result)


def _effort(changes: tuple[tuple[str, int, str], ...]) -> int:
    """Dropping a clause is easy; another kind of job or another program is not."""
    return sum({"requirements": 1, "policy": 2, "cpus": 2}.get(origin, _NOT_OURS) for origin, _, _ in changes)


def _in_words(description: JobDescription, change: tuple[str, int, str], rejected: Sequence[Rejected]) -> str:
    origin, number, text = change
    if origin == "requirements":
        return f"dropping clause {number} ({text})"
    if origin == "cpus":
        most = max(one.resource.total_cpus for one in rejected)
        return f"asking for fewer CPUs (at most {most} instead of {description.cpus})"
    return f"giving up the condition '{text}'"
