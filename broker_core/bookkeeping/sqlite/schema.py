"""The tables of the store, their number, and the steps from each number to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from sqlite3 import Connection, connect

from broker_core.bookkeeping.faults import REPAIR
from broker_core.bookkeeping.sqlite.purging import fold_stories
from broker_core.errors import StoreDamaged
from broker_core.jobs.transitions import EventType
from broker_core.version import SCHEMA

TABLES = """
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    generation TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started REAL NOT NULL
);
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    job TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time REAL NOT NULL,
    source TEXT NOT NULL,
    type TEXT NOT NULL,
    old TEXT,
    new TEXT NOT NULL,
    owner TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    resources TEXT NOT NULL,
    reason TEXT NOT NULL,
    details TEXT NOT NULL,
    schema INTEGER NOT NULL,
    checksum BLOB NOT NULL
);
CREATE UNIQUE INDEX events_of_job ON events (job, seq);
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    files TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    structure TEXT NOT NULL,
    interactive INTEGER NOT NULL,
    cpus INTEGER NOT NULL,
    state TEXT NOT NULL,
    description TEXT NOT NULL,
    batch TEXT NOT NULL,
    parameter TEXT NOT NULL,
    pinned TEXT NOT NULL,
    reason TEXT NOT NULL,
    held TEXT NOT NULL,
    site TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    submitted REAL NOT NULL,
    accepted REAL,
    matched REAL,
    scheduled REAL,
    started REAL,
    ended REAL,
    exit_code INTEGER,
    signal INTEGER,
    canceling REAL,
    seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    rerun_of TEXT NOT NULL DEFAULT '',
    error_line TEXT NOT NULL DEFAULT '',
    memory INTEGER
);
CREATE INDEX jobs_of_owner ON jobs (owner, number);
CREATE INDEX jobs_in_state ON jobs (owner, state, number);
CREATE INDEX jobs_live ON jobs (number)
    WHERE state IN ('Submitted', 'Waiting', 'Ready', 'Scheduled', 'Running');
CREATE INDEX jobs_of_description ON jobs (description);
CREATE INDEX reruns ON jobs (rerun_of) WHERE rerun_of <> '';
CREATE INDEX jobs_of_files ON jobs (files) WHERE files <> '';
CREATE TABLE sweeps (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    description TEXT NOT NULL,
    files TEXT NOT NULL,
    body TEXT NOT NULL,
    checksum BLOB NOT NULL
);
CREATE TABLE submissions (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE TABLE descriptions (sha TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE filesets (sha TEXT PRIMARY KEY, files TEXT NOT NULL);
CREATE TABLE documents (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (owner, name)
);
CREATE TABLE annotations (
    job TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    tags TEXT NOT NULL,
    note TEXT NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX annotations_by_position ON annotations (position);
CREATE TABLE outside_jobs (
    site TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (site, id)
) WITHOUT ROWID;
CREATE TABLE purged (
    owner TEXT NOT NULL,
    structure TEXT NOT NULL,
    interactive INTEGER NOT NULL,
    month TEXT NOT NULL,
    cpus INTEGER NOT NULL,
    wait INTEGER NOT NULL,
    submitted INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    matched INTEGER NOT NULL,
    run INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    cleared INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    canceled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, structure, interactive, month, cpus, wait)
) WITHOUT ROWID;
"""

LIVE = "state IN ('Submitted', 'Waiting', 'Ready', 'Scheduled', 'Running')"
"""SQL: the job is not ended; written exactly as in the partial index."""


def _add_sweeps(connection: Connection) -> None:
    connection.execute(next(text for text in TABLES.split(";") if "TABLE sweeps" in text))


def _fold_purged(connection: Connection) -> None:
    """Stories of jobs that were purged before are folded as they are now at once."""
    rows = connection.execute("SELECT job, seq FROM events WHERE type = ?", (EventType.PURGED.value,))
    fold_stories(connection, rows.fetchall())


def _add_reruns(connection: Connection) -> None:
    """Columns that were not there; how jobs that were purged before had ended is not known any more."""
    for column in ("rerun_of", "error_line"):
        connection.execute(f"ALTER TABLE jobs ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    for column in ("done", "failed", "canceled"):
        connection.execute(f"ALTER TABLE purged ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
    connection.execute(next(text for text in TABLES.split(";") if "INDEX reruns" in text))


def _add_annotations(connection: Connection) -> None:
    for text in TABLES.split(";"):
        if "annotations" in text:
            connection.execute(text)


def _add_outside_jobs(connection: Connection) -> None:
    connection.execute(next(text for text in TABLES.split(";") if "TABLE outside_jobs" in text))


def _add_memory(connection: Connection) -> None:
    """What ended jobs used stands in their stories already."""
    connection.execute("ALTER TABLE jobs ADD COLUMN memory INTEGER")
    connection.execute(
        "UPDATE jobs SET memory = nullif(CAST(found.most AS INTEGER), 0) FROM ("
        " SELECT job, json_extract(details, '$.usage.max_rss_bytes') AS most, max(seq) FROM ("
        # What is damaged is for the check of the store to find.
        "  SELECT job, seq, CASE WHEN json_valid(details) THEN details ELSE '{}' END AS details FROM events"
        "  WHERE details LIKE '%\"usage\"%'"
        " ) WHERE json_type(details, '$.usage') = 'object' GROUP BY job"
        ") AS found WHERE found.job = jobs.id"
    )


MIGRATIONS: dict[int, Callable[[Connection], None]] = {
    1: _add_sweeps,
    2: _fold_purged,
    3: _add_reruns,
    4: _add_annotations,
    5: _add_outside_jobs,
    6: _add_memory,
}
"""Schema number to the step that makes the next one of it, inside a transaction."""


def stored_schema(connection: Connection) -> int:
    """The schema number of a store; 0 for an empty file."""
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone()
    if found is None:
        return 0
    row = connection.execute("SELECT schema FROM meta").fetchone()
    if row is None:
        raise lost_tables()
    return int(row[0])


def lost_tables() -> StoreDamaged:
    """The error for a store that says nothing of itself though it was used before."""
    return StoreDamaged("The store has lost its tables.", place="table meta", remedy=REPAIR)


def definitions(connection: Connection) -> set[tuple[str, ...]]:
    """Name, kind, table and text of the definitions of all tables and indexes.

    Spaces are left out: SQLite writes a column that was added later in its own manner.
    """
    rows = connection.execute("SELECT name, type, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    return {(name, kind, table, "".join(str(text).split())) for name, kind, table, text in rows}


def expected_definitions() -> set[tuple[str, ...]]:
    """What `definitions` gives for a new store."""
    with closing(connect(":memory:")) as connection:
        create(connection, "")
        return definitions(connection)


def create(connection: Connection, generation: str) -> None:
    """Make the tables of an empty store, inside the caller's transaction."""
    for statement in TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES (1, ?, 0, ?, '', 0, 0)", (SCHEMA, generation))


def migrate(
    connection: Connection,
    found: int,
    present: int = SCHEMA,
    steps: Mapping[int, Callable[[Connection], None]] = MIGRATIONS,
) -> None:
    """Bring a store of number `found` to the present one, inside the caller's transaction (case 23)."""
    if found > present:
        raise StoreDamaged(
            f"The store was written by a newer CrossDesk (schema {found}, this one knows {present}).",
            place="table meta",
            remedy="Start the newer version, or use another state directory.",
            code="store_too_new",
        )
    for number in range(found, present):
        steps[number](connection)
    connection.execute("UPDATE meta SET schema = ?", (present,))
