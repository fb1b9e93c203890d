"""Stores of every released schema are read; those of a later one are refused (reliability case 23)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.entries import OutsideChange
from broker_core.bookkeeping.repair import repair
from broker_core.bookkeeping.sqlite.codec import EVENT_COLUMNS, checksum
from broker_core.bookkeeping.sqlite.connection import STORE_FILE
from broker_core.bookkeeping.sqlite.schema import MIGRATIONS, create, migrate, stored_schema
from broker_core.errors import StoreDamaged
from broker_core.jobs.transitions import EventType
from broker_core.version import SCHEMA
from broker_core.wire.outside import OutsideJob
from tests.bookkeeping.made import open_store, step

RELEASED = sorted((Path(__file__).parent / "released").glob("schema_*.sql"))
"""Dumps of stores as each release wrote them; a file is added with each new schema, never changed."""


def test_every_schema_has_a_released_store_and_a_step_to_the_next() -> None:
    assert [path.stem for path in RELEASED] == [f"schema_{number}" for number in range(1, SCHEMA + 1)]
    assert sorted(MIGRATIONS) == list(range(1, SCHEMA))


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
async def test_a_released_store_is_opened_and_goes_on(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.executescript(path.read_text())
    store = open_store(tmp_path)
    assert store.epoch == 2
    assert [record.name for record in store.live()] == ["waits"]
    replaced = int(bool(store.live()[0].rerun_of))  # a run that was repeated does not count
    assert (await store.statistics()).kinds["Normal batch"].submitted == 4 - replaced
    assert (await store.states()) == {"Waiting": 1, "Done": 2 - replaced}
    assert set((await store.jobs_page()).columns["error_line"]) <= {"", "ValueError: no"}
    await store.append([step(store, store.live()[0], EventType.CANCELED)])
    store.close()
    assert check(tmp_path) == []
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        assert stored_schema(connection) == SCHEMA


def test_a_later_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        connection.execute("UPDATE meta SET schema = 99")
    with pytest.raises(StoreDamaged) as told:
        open_store(tmp_path)
    assert told.value.code == "store_too_new"
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        assert connection.execute("SELECT schema, epoch FROM meta").fetchone() == (99, 1)


def test_steps_run_in_order_and_a_failed_one_leaves_the_store_as_it_was() -> None:
    ran: list[int] = []

    def add_column(connection: sqlite3.Connection) -> None:
        ran.append(1)
        connection.execute("ALTER TABLE documents ADD COLUMN colour TEXT NOT NULL DEFAULT ''")

    def fill_column(connection: sqlite3.Connection) -> None:
        ran.append(2)
        connection.execute("UPDATE documents SET colour = 'red'")

    steps = {SCHEMA: add_column, SCHEMA + 1: fill_column}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection, "g")
        connection.execute("INSERT INTO documents VALUES ('ann', 'w', '{}')")
        connection.execute("BEGIN")
        with pytest.raises(KeyError):
            migrate(connection, SCHEMA, SCHEMA + 3, steps)
        connection.execute("ROLLBACK")
        assert stored_schema(connection) == SCHEMA
        migrate(connection, SCHEMA, SCHEMA + 2, steps)
        assert ran == [1, 2, 1, 2]
        assert stored_schema(connection) == SCHEMA + 2
        assert connection.execute("SELECT colour FROM documents").fetchone() == ("red",)


async def test_of_an_earlier_store_nothing_is_a_rerun_and_ends_of_purged_jobs_are_not_counted(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.executescript((Path(__file__).parent / "released/schema_3.sql").read_text())
    store = open_store(tmp_path)
    page = await store.jobs_page(columns=("rerun_of", "error_line"))
    assert page.columns == {"rerun_of": ["", "", ""], "error_line": ["", "", ""]}
    assert (await store.statistics()).outcomes == {"Waiting": 1, "Done": 2}
    store.close()


@pytest.mark.parametrize("number", [6, 7])
async def test_memory_of_ended_jobs_is_known_also_of_an_earlier_store(number: int, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        connection.executescript((Path(__file__).parent / f"released/schema_{number}.sql").read_text())
        used = '{"exit_code":0,"usage":{"wall_s":1.0,"cpu_s":0.5,"max_rss_bytes":52428800.0}}'
        connection.execute("UPDATE events SET details = ? WHERE position = 6", (used,))
        whole = f"SELECT {', '.join(EVENT_COLUMNS)} FROM events WHERE position = 6"
        row = connection.execute(whole).fetchone()
        connection.execute("UPDATE events SET checksum = ? WHERE position = 6", (checksum(row[:-1]),))
    store = open_store(tmp_path)
    page = await store.jobs_page(columns=("name", "memory"))
    store.close()
    assert page.columns == {"name": ["waits", "café", "first"], "memory": [None, None, 52428800]}
    assert check(tmp_path) == []


def test_a_damaged_story_of_an_earlier_store_is_found_as_in_one_of_today(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection, connection:
        connection.executescript((Path(__file__).parent / "released/schema_6.sql").read_text())
        connection.execute("UPDATE events SET details = '{\"usage' WHERE position = 6")
    with pytest.raises(StoreDamaged, match="event"):
        open_store(tmp_path)


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_a_whole_store_of_an_earlier_version_needs_no_repair(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.executescript(path.read_text())
    repaired = repair(tmp_path, host="here", pid=1)
    assert (repaired.findings, repaired.copy) == ([], None)
    assert check(tmp_path) == []


async def test_a_rerun_and_the_line_of_an_error_are_read_again(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.executescript((Path(__file__).parent / "released/schema_4.sql").read_text())
    store = open_store(tmp_path)
    (again,) = store.live()
    (repeated,) = await store.jobs([again.rerun_of])
    assert (repeated.parameter, repeated.batch) == (again.parameter, again.batch)
    assert repeated.error_line == "ValueError: no"
    assert (await store.statistics()).outcomes == {"Waiting": 1, "Done": 2}
    store.close()


async def test_jobs_outside_are_read_again_changed_and_forgotten(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as connection:
        connection.executescript((Path(__file__).parent / "released/schema_6.sql").read_text())
    store = open_store(tmp_path)
    ((site, id, body),) = await store.outside_jobs()
    assert (site, id, OutsideJob.model_validate_json(body).name) == ("vega", "4711", "relax")
    await store.keep_outside(OutsideChange("vega", {"4712": "{}"}, ["4711"]))
    assert await store.outside_jobs() == [("vega", "4712", "{}")]
    assert (await store.states()) == {"Waiting": 1, "Done": 1}
    store.close()
