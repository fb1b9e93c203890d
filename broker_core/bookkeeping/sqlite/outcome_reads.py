"""Outcomes in what is read from the store: which rows have one, and how many there are of each."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

from broker_core.bookkeeping.sqlite import sweep_reads
from broker_core.jobs.outcome import Outcome, cases, outcome_of
from broker_core.jobs.placement import computing_element, ids_in
from broker_core.jobs.states import JobState
from broker_core.jobs.sweep import Sweep

Wanted = Sequence[JobState | Outcome]
"""Jobs in one of the states, or with one of the outcomes; none: all jobs."""
LATEST = (
    "number NOT IN (SELECT early.number FROM jobs AS late JOIN jobs AS early ON early.id = late.rerun_of"
    " WHERE late.rerun_of <> '' AND early.batch <> '')"
)
"""SQL: the job stands for itself where jobs are counted, as `jobs.reruns.latest_runs` says."""
_BAD = "ifnull(exit_code, 0) <> 0"
"""SQL: an exit code other than 0 is recorded."""
_PURGED = (
    "SELECT ifnull(sum(done), 0), ifnull(sum(failed), 0), ifnull(sum(canceled), 0)"
    " FROM purged WHERE ?1 = '' OR owner = ?1"
)


def states_of(wanted: Wanted) -> list[JobState]:
    """Return the states in which such jobs can be."""
    return list(dict.fromkeys(state for state, _ in _cases(wanted)))


def condition(wanted: Wanted) -> tuple[str, list[Any]]:
    """Return SQL that is true for such jobs, with its values."""
    chosen, states = _cases(wanted), states_of(wanted)
    parts, values = [f"state IN ({','.join('?' * len(states))})"], [state.value for state in states]
    for state, bad in chosen:
        if (state, not bad) not in chosen:
            parts.append(f"(state <> ? OR {'' if bad else 'NOT '}{_BAD})")
            values.append(state.value)
    return " AND ".join(parts), values


def _cases(wanted: Wanted) -> list[tuple[JobState, bool]]:
    known = [(one, case) for one in Outcome for case in cases(one)]
    return [case for outcome, case in known if _is_wanted(outcome, case[0], wanted)]


def _is_wanted(outcome: Outcome, state: JobState, wanted: Wanted) -> bool:
    return any(one is outcome or one is state for one in wanted)


def counted(connection: sqlite3.Connection, owner: str, sweeps: Sequence[Sweep] = ()) -> Counter[Outcome]:
    """Return how many jobs of an owner (empty: of all) have each outcome, purged ones too.

    Of each member of a batch the last run counts.

    How jobs ended that were purged before outcomes were kept is not known: those do not count.
    """
    mine = f"(?1 = '' OR owner = ?1) AND {LATEST}"
    query = f"SELECT state, exit_code, count(*) FROM jobs WHERE {mine} GROUP BY 1, 2"
    found: Counter[Outcome] = Counter()
    for state, code, number in connection.execute(query, (owner,)):
        found[outcome_of(state, code)] += number
    shared = sweep_reads.counted(connection, sweep_reads.chosen(sweeps, owner))
    for state, number in shared.items():
        found[outcome_of(state, None)] += number
    ends = (Outcome.DONE, Outcome.FAILED, Outcome.CANCELED)
    (gone,) = connection.execute(_PURGED, (owner,)).fetchall()
    found.update({one: number for one, number in zip(ends, gone, strict=True) if number})
    return found


def at_sites(connection: sqlite3.Connection, owner: str) -> dict[str, Counter[Outcome]]:
    """Return how many jobs ended well and how many failed at each site, by its name; a job counts where its
    last run was."""
    over, values = condition((Outcome.DONE, Outcome.FAILED))
    where = f"{over} AND {LATEST}{' AND owner = ?' if owner else ''}"
    query = f"SELECT site, state, exit_code, count(*) FROM jobs WHERE {where} GROUP BY 1, 2, 3"
    found: dict[str, Counter[Outcome]] = {}
    for text, state, code, number in connection.execute(query, [*values, owner] if owner else values):
        for name in {computing_element(id).site for id in ids_in(text)}:
            found.setdefault(name, Counter())[outcome_of(state, code)] += number
    return found
