"""The numbers of CB-UI-13, over the jobs in the store and those purged from it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

from broker_core.jobs.counters import LONGER, STAGES, WAIT_BOUNDS, kind_of, kind_order
from broker_core.wire.views import StageCounts, Statistics

_WAIT = (
    "CASE WHEN started IS NULL THEN -2 "
    + " ".join(f"WHEN started - submitted <= {bound} THEN {bound}" for bound in WAIT_BOUNDS)
    + " ELSE -1 END"
)
_PRESENT = f"""
SELECT structure, interactive, strftime('%Y-%m', submitted, 'unixepoch'), cpus, {_WAIT},
    count(*), count(accepted), count(matched), count(started),
    sum(state IN ('Done', 'Cleared')), sum(state = 'Cleared')
FROM jobs WHERE ?1 = '' OR owner = ?1 GROUP BY 1, 2, 3, 4, 5
"""
_PURGED = """
SELECT structure, interactive, month, cpus, wait, submitted, accepted, matched, run, completed, cleared
FROM purged WHERE ?1 = '' OR owner = ?1
"""


def statistics(connection: sqlite3.Connection, owner: str) -> Statistics:
    """Counters, months, sizes and waits of an owner's jobs; an empty owner stands for all."""
    kinds: dict[str, Counter[str]] = {}
    months: Counter[tuple[str, str]] = Counter()
    sizes: Counter[int] = Counter()
    waits: Counter[int] = Counter()
    for query in (_PRESENT, _PURGED):
        for structure, interactive, month, cpus, wait, *counts in connection.execute(query, (owner,)):
            kind = kind_of(structure, bool(interactive))
            kinds.setdefault(kind, Counter()).update(dict(zip(STAGES, counts, strict=True)))
            months[month, kind] += counts[0]
            sizes[cpus] += counts[0]
            waits[wait] += counts[0]
    return Statistics(
        kinds={kind: StageCounts(**kinds[kind]) for kind in sorted(kinds, key=kind_order)},
        months=[{"month": m, "kind": k, "jobs": months[m, k]} for m, k in sorted(months)],
        sizes=[{"cpus": size, "jobs": sizes[size]} for size in sorted(sizes)],
        waits=_waits(waits),
    )


def _waits(waits: Counter[int]) -> list[dict[str, Any]]:
    classes: list[dict[str, Any]] = [{"upto": bound, "jobs": waits[bound]} for bound in WAIT_BOUNDS]
    return [*classes, {"upto": None, "jobs": waits[LONGER]}]
