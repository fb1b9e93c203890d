"""The questions that are put to the store; each takes a connection inside a read transaction."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

import orjson

from broker_core.bookkeeping.faults import REPAIR
from broker_core.bookkeeping.sqlite import sweep_reads
from broker_core.bookkeeping.sqlite.annotations import annotation_columns
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, JOB_COLUMNS, event_of, intact, record_of
from broker_core.bookkeeping.sqlite.outcome_reads import LATEST, Wanted, condition, states_of
from broker_core.errors import BadRequest, StoreDamaged
from broker_core.jobs.annotations import PAGE_COLUMNS
from broker_core.jobs.events import JOB, JobEvent
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.sweep import Sweep
from broker_core.wire.submission import Receipt, SandboxFile

_EVENTS = f"SELECT {', '.join(EVENT_COLUMNS)} FROM events"
_OF_JOBS = f"type GLOB '{JOB}.*'"
"""SQL: the event is about a job."""
NUMBERED = f"SELECT number, {', '.join(JOB_COLUMNS)} FROM jobs"
JOBS = f"SELECT {', '.join(JOB_COLUMNS)} FROM jobs"


@dataclass(frozen=True, slots=True)
class JobsByColumn:
    """A page of the jobs table by columns, newest job first; fields as in wire.views.JobsPage."""

    columns: dict[str, list[Any]]
    next: str
    total: int
    position: int


def last_position(connection: sqlite3.Connection) -> int:
    """Position of the last event, written or shared by the jobs of a sweep, or of the last change to a tag or
    note; 0 if there is none."""
    return max(
        int(connection.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0])
        for table, column in (("events", "position"), ("sweeps", "last"), ("annotations", "position"))
    )


def job(connection: sqlite3.Connection, identity: str) -> JobRecord | None:
    """The record of one job, None if there is none or it was purged."""
    row = connection.execute(f"{JOBS} WHERE id = ?", (identity,)).fetchone()
    return None if row is None else record_of(row)


def jobs(connection: sqlite3.Connection, identities: Sequence[str]) -> list[tuple[int, JobRecord]]:
    """Numbers and records of the named jobs that have a row, in the order of their submission."""
    text = orjson.dumps(list(identities)).decode()
    query = f"{NUMBERED} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY number"
    return [(row[0], record_of(row[1:])) for row in connection.execute(query, (text,))]


def ended_before(
    connection: sqlite3.Connection, moment: float, states: Sequence[JobState], after: str, limit: int
) -> list[JobRecord]:
    """Records of jobs in these states that ended before a moment, by their ids, those behind `after`."""
    marks = ",".join("?" * len(states))
    query = f"{JOBS} WHERE id > ? AND state IN ({marks}) AND ended < ? ORDER BY id LIMIT ?"
    values = (after, *(state.value for state in states), moment, limit)
    return [record_of(row) for row in connection.execute(query, values)]


def jobs_page(
    connection: sqlite3.Connection,
    owner: str,
    after: str,
    limit: int,
    wanted: Wanted,
    columns: Sequence[str],
    sweeps: Sequence[Sweep] = (),
    latest: bool = False,
) -> JobsByColumn:
    """A page of the jobs of an owner; an empty owner stands for all, nothing `wanted` for any state.

    `sweeps`: those with jobs that share their story, and may have no row yet. `latest`: of each
    member of a batch only the last run.

    Only the first page counts the jobs: counting costs as much as reading a page.
    """
    wished = _known_columns(columns)
    names = [name for name in JOB_COLUMNS if name in wished or name == "id"]
    where, values = _conditions(owner, wanted)
    where += [LATEST] if latest else []
    mine = sweep_reads.chosen(sweeps, owner, states_of(wanted))
    total, before = 0, _cursor(after) if after else 1 << 62
    if not after:
        total = connection.execute(f"SELECT count(*) FROM jobs{_where(where)}", values).fetchone()[0]
        total += sweep_reads.counted(connection, mine).total()
    where.append("number < ?")
    query = f"SELECT number, {', '.join(names)} FROM jobs{_where(where)} ORDER BY number DESC LIMIT ?"
    rows = connection.execute(query, (*values, before, limit)).fetchall()
    if mine:
        shared = sweep_reads.rows_before(connection, mine, before, limit, names)
        rows += ((number, *one) for number, one in shared)
        rows = sorted(rows, key=itemgetter(0), reverse=True)[:limit]
    following = str(rows[-1][0]) if len(rows) == limit else ""
    found = _by_columns(names, rows)
    found |= annotation_columns(connection, found["id"], wished)
    in_order = {name: found[name] for name in wished}
    return JobsByColumn(in_order, following, total, last_position(connection))


def _known_columns(columns: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(columns)) or list(JOB_COLUMNS)
    for name in names:
        if name not in PAGE_COLUMNS:
            known = ", ".join(PAGE_COLUMNS)
            raise BadRequest(f"There is no column {name!r}.", place="columns", remedy=f"Known: {known}.")
    return names


def _cursor(after: str) -> int:
    if not after.isascii() or not after.isdigit() or len(after) > 18:
        raise BadRequest("This is not a page's cursor.", place="after", remedy="Start at the first page.")
    return int(after)


def _conditions(owner: str, wanted: Wanted) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    if owner:
        where.append("owner = ?")
        values.append(owner)
    if wanted:
        text, more = condition(wanted)
        where.append(text)
        values.extend(more)
    return where, values


def _where(conditions: Sequence[str]) -> str:
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _by_columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    if not rows:
        return {name: [] for name in names}
    columns = dict(zip(names, map(list, list(zip(*rows, strict=True))[1:]), strict=True))
    if "interactive" in columns:
        columns["interactive"] = list(map(bool, columns["interactive"]))
    return columns


def events_of(connection: sqlite3.Connection, identity: str) -> list[JobEvent]:
    """All events of one job, in order."""
    return _checked(connection.execute(f"{_EVENTS} WHERE job = ? AND {_OF_JOBS} ORDER BY seq", (identity,)))


def events_after(
    connection: sqlite3.Connection, position: int, owner: str, limit: int, sweeps: Sequence[Sweep] = ()
) -> list[JobEvent]:
    """Events of an owner's jobs (empty: of all) behind a position, in order, at most `limit`."""
    values: tuple[Any, ...] = (position, owner, limit) if owner else (position, limit)
    mine = " AND owner = ?" if owner else ""
    query = f"{_EVENTS} WHERE position > ? AND {_OF_JOBS}{mine} ORDER BY position LIMIT ?"
    found = _checked(connection.execute(query, values))
    open_ = sweep_reads.chosen(sweeps, owner)
    if open_:
        found += sweep_reads.events_after(connection, open_, position, limit)
        found = sorted(found, key=attrgetter("position"))[:limit]
    return found


def _checked(rows: sqlite3.Cursor) -> list[JobEvent]:
    found = []
    for row in rows:
        if not intact(row):
            raise damaged_event(row[0], row[1])
        found.append(event_of(row))
    return found


def damaged_event(position: object, identity: object, what: str = "is not what was written") -> StoreDamaged:
    """The error that names one bad event."""
    return StoreDamaged(
        f"An event {what}.", place=f"event at position {position}, job {identity}", remedy=REPAIR
    )


def description(connection: sqlite3.Connection, sha: str) -> str | None:
    """The text of a description."""
    row = connection.execute("SELECT text FROM descriptions WHERE sha = ?", (sha,)).fetchone()
    return None if row is None else str(row[0])


def files_of(connection: sqlite3.Connection, identity: str, of_sweep: str = "") -> list[SandboxFile]:
    """The input sandbox of a job; `of_sweep` names the list that it shares with others."""
    query = "SELECT f.files FROM jobs AS j JOIN filesets AS f ON f.sha = j.files WHERE j.id = ?"
    row = connection.execute(query, (identity,)).fetchone()
    if row is None and of_sweep:
        row = connection.execute("SELECT files FROM filesets WHERE sha = ?", (of_sweep,)).fetchone()
    return [] if row is None else [SandboxFile(**one) for one in orjson.loads(row[0])]


def files_of_jobs(
    connection: sqlite3.Connection, identities: Sequence[str]
) -> dict[str, tuple[SandboxFile, ...]]:
    """Job id to its input sandbox, for those that have a row; equal ones are the same object."""
    text = orjson.dumps(list(identities)).decode()
    query = "SELECT id, files FROM jobs WHERE id IN (SELECT value FROM json_each(?))"
    names = dict(connection.execute(query, (text,)))
    wanted = orjson.dumps(sorted(set(names.values()))).decode()
    query = "SELECT sha, files FROM filesets WHERE sha IN (SELECT value FROM json_each(?))"
    listed = {
        sha: tuple(SandboxFile(**one) for one in orjson.loads(files))
        for sha, files in connection.execute(query, (wanted,))
    }
    return {job: listed.get(name, ()) for job, name in names.items()}


def reruns(connection: sqlite3.Connection, identities: Sequence[str]) -> dict[str, str]:
    """Job id to the id of the job that repeats it, for those of the jobs that have one."""
    text = orjson.dumps(list(identities)).decode()
    query = (
        "SELECT rerun_of, id FROM jobs WHERE rerun_of <> '' AND rerun_of IN (SELECT value FROM json_each(?))"
    )
    return dict(connection.execute(query, (text,)))


def files_in_use(connection: sqlite3.Connection) -> set[str]:
    """SHA-256 of every sandbox file that a job in the store was sent with."""
    rows = connection.execute("SELECT files FROM filesets")
    return {file["sha256"] for (text,) in rows for file in orjson.loads(text)}


def receipt(connection: sqlite3.Connection, owner: str, key: str) -> Receipt | None:
    """The receipt of an earlier submission with this key."""
    query = "SELECT receipt FROM submissions WHERE owner = ? AND key = ?"
    row = connection.execute(query, (owner, key)).fetchone()
    return None if row is None else Receipt.model_validate_json(row[0])


def document(connection: sqlite3.Connection, owner: str, name: str) -> str | None:
    """The JSON text of a document."""
    query = "SELECT body FROM documents WHERE owner = ? AND name = ?"
    row = connection.execute(query, (owner, name)).fetchone()
    return None if row is None else str(row[0])


def states(connection: sqlite3.Connection, owner: str, sweeps: Sequence[Sweep] = ()) -> dict[str, int]:
    """State to number of jobs, of each member of a batch the last run; in the order of the life cycle, only
    states that occur."""
    where, values = _conditions(owner, ())
    query = f"SELECT state, count(*) FROM jobs{_where([*where, LATEST])} GROUP BY state"
    found = Counter(dict(connection.execute(query, values)))
    found += sweep_reads.counted(connection, sweep_reads.chosen(sweeps, owner))
    return {state.value: found[state.value] for state in JobState if state.value in found}
