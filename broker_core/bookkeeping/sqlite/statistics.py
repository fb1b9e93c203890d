"""The numbers of CB-UI-13, over the jobs in the store and those purged from it.

They are numbers of jobs: of a member of a batch that was run again the last run counts, purged or not.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from broker_core.bookkeeping.sqlite.outcome_reads import LATEST, counted
from broker_core.bookkeeping.sqlite.sweep_reads import chosen
from broker_core.bookkeeping.sqlite.sweep_rows import common_number
from broker_core.jobs.counters import LONGER, STAGES, WAIT_BOUNDS, kind_of, kind_order
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.sweep import Sweep
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
FROM jobs WHERE (?1 = '' OR owner = ?1) AND {LATEST} GROUP BY 1, 2, 3, 4, 5
"""
_PURGED = """
SELECT structure, interactive, month, cpus, wait, submitted, accepted, matched, run, completed, cleared
FROM purged WHERE ?1 = '' OR owner = ?1
"""


def statistics(connection: sqlite3.Connection, owner: str, sweeps: Sequence[Sweep] = ()) -> Statistics:
    """Counters, months, sizes and waits of an owner's jobs; an empty owner stands for all."""
    kinds: dict[str, Counter[str]] = {}
    months: Counter[tuple[str, str]] = Counter()
    sizes: Counter[int] = Counter()
    waits: Counter[int] = Counter()
    rows = [row for query in (_PRESENT, _PURGED) for row in connection.execute(query, (owner,))]
    rows += [_of_sweep(connection, sweep) for sweep in chosen(sweeps, owner)]
    for structure, interactive, month, cpus, wait, *counts in rows:
        if counts[0]:
            kind = kind_of(structure, bool(interactive))
            kinds.setdefault(kind, Counter()).update(dict(zip(STAGES, counts, strict=True)))
        if counts[0] and cpus:
            months[month, kind] += counts[0]
            sizes[cpus] += counts[0]
            waits[wait] += counts[0]
    found = counted(connection, owner, sweeps)
    return Statistics(
        kinds={kind: StageCounts(**kinds[kind]) for kind in sorted(kinds, key=kind_order)},
        months=[{"month": m, "kind": k, "jobs": months[m, k]} for m, k in sorted(months)],
        sizes=[{"cpus": size, "jobs": sizes[size]} for size in sorted(sizes)],
        waits=_waits(waits),
        outcomes={one.value: found[one] for one in Outcome if found[one]},
    )


def _of_sweep(connection: sqlite3.Connection, sweep: Sweep) -> tuple[Any, ...]:
    """The jobs that share their sweep's story as one row of the first query."""
    common, number = sweep.common(), common_number(connection, sweep)
    month = datetime.fromtimestamp(common.submitted, UTC).strftime("%Y-%m")
    accepted = number if common.accepted is not None else 0
    return common.structure, common.interactive, month, common.cpus, -2, number, accepted, 0, 0, 0, 0


def _waits(waits: Counter[int]) -> list[dict[str, Any]]:
    classes: list[dict[str, Any]] = [{"upto": bound, "jobs": waits[bound]} for bound in WAIT_BOUNDS]
    return [*classes, {"upto": None, "jobs": waits[LONGER]}]
