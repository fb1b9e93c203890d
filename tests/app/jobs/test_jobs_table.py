"""The model of the jobs table under new, changed and purged jobs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.jobs.columns import BY_NAME, jobs_table
from app.jobs.commands import command_text
from app.jobs.table import JobsTable
from app.stores.jobs import JobStore
from app.widgets.csv_file import write_csv
from broker_core.jobs.query import parse
from tests.app.jobs.rows import NOW, columns, many


@pytest.fixture
def rows(qapp: QApplication) -> JobStore:
    """An empty store."""
    return JobStore()


@pytest.fixture
def table(rows: JobStore) -> JobsTable:
    """A table that follows the store."""
    made = JobsTable(rows)
    rows.changed.connect(made.view.take)
    return made


def names(table: JobsTable) -> list[str]:
    """Ids of the lines."""
    return [table.id_at(line) for line in range(table.rowCount())]


def put(rows: JobStore, *jobs: dict[str, Any]) -> None:
    rows.merge(columns(*jobs))
    rows.flush()


def test_model_keeps_the_rules_of_qt(qtmodeltester: Any, rows: JobStore, table: JobsTable) -> None:
    rows.merge(many(20, batch=5))
    rows.flush()
    table.view.fold(0, True)
    qtmodeltester.check(table)
    put(rows, {"id": "new", "submitted": NOW + 1})
    rows.drop(["j000007"])
    rows.flush()
    assert names(table)[0] == "new"


def test_new_jobs_come_on_top_and_changed_ones_stay(rows: JobStore, table: JobsTable) -> None:
    rows.merge(many(3))
    rows.flush()
    put(rows, {"id": "new", "submitted": NOW + 5})
    put(rows, {"id": "j000001", "submitted": NOW - 1, "state": "Running", "position": 2})
    assert names(table) == ["new", "j000000", "j000001", "j000002"]
    assert table.style_of(2).word == "Running"


def test_older_news_change_nothing(rows: JobStore) -> None:
    put(rows, {"id": "a", "state": "Done", "position": 9})
    put(rows, {"id": "a", "state": "Running", "position": 8})
    assert rows.row("a")["state"] == "Done"
    assert rows.states["Done"] == 1
    assert rows.states["Running"] == 0


def test_purged_jobs_go_and_do_not_return_with_a_late_page(rows: JobStore, table: JobsTable) -> None:
    rows.merge(many(3))
    rows.flush()
    rows.drop(["j000001", "later"])
    rows.flush()
    put(rows, {"id": "later"})
    assert names(table) == ["j000000", "j000002"]
    assert rows.row("j000001") is None
    assert len(rows) == 2


def test_the_exit_column_says_nothing_of_an_earlier_attempt(rows: JobStore, table: JobsTable) -> None:
    left = {"exit_code": 7, "signal": 9}
    rows.merge(columns({"id": "again", "state": "Running", **left}, {"id": "over", "state": "Done", **left}))
    rows.flush()
    lines = {table.id_at(line): line for line in range(table.rowCount())}
    assert table.text(lines["again"], BY_NAME["exit"]) == ""
    assert table.text(lines["over"], BY_NAME["exit"]) == "7"


def test_batch_is_one_line_with_a_summary_that_unfolds(rows: JobStore, table: JobsTable) -> None:
    rows.merge(many(200, batch=200))
    rows.flush()
    put(rows, {"id": "j000003", "batch": "b0", "state": "Running", "position": 2, "submitted": NOW - 3})
    assert table.rowCount() == 1
    assert table.text(0, 0) == "1 running · 199 waiting"
    table.view.fold(0, True)
    assert table.rowCount() == 201
    assert table.inside(1)
    table.view.fold(0, False)
    assert table.ids_at(0)[0] == "j000000"
    assert len(table.ids_at(0)) == 200


def test_jobs_enter_and_leave_a_query_as_they_change(rows: JobStore, table: JobsTable) -> None:
    rows.merge(many(30))
    rows.flush()
    table.view.query = parse("state:running")
    asyncio.run(table.view.rebuild())
    assert table.rowCount() == 0
    put(rows, {"id": "j000004", "state": "Running", "position": 2, "submitted": NOW - 4})
    put(rows, {"id": "j000002", "state": "Running", "position": 3, "submitted": NOW - 2})
    assert names(table) == ["j000002", "j000004"]
    put(rows, {"id": "j000002", "state": "Done", "position": 4, "submitted": NOW - 2})
    assert names(table) == ["j000004"]


def test_order_is_by_any_column_both_ways(rows: JobStore, table: JobsTable) -> None:
    put(
        rows,
        {"id": "a", "name": "x", "cpus": 3},
        {"id": "b", "name": "z", "cpus": 1},
        {"id": "c", "name": "y"},
    )
    table.view.sort, table.view.descending = "name", False
    asyncio.run(table.view.rebuild())
    assert names(table) == ["a", "c", "b"]
    table.view.descending = True
    asyncio.run(table.view.rebuild())
    assert names(table) == ["b", "c", "a"]


def test_a_hundred_thousand_jobs_are_ordered_and_filtered(rows: JobStore, table: JobsTable) -> None:
    rows.merge(many(100_000))
    rows.flush()
    table.view.sort, table.view.descending = "id", False
    table.view.query = parse("id:*7")
    asyncio.run(table.view.rebuild())
    assert names(table)[:2] == ["j000007", "j000017"]
    assert table.rowCount() == 10_000


def test_csv_has_exact_values_and_no_formulas(rows: JobStore, table: JobsTable, tmp_path: Path) -> None:
    put(rows, {"id": "a", "name": "=1+1", "state": "Done", "exit_code": 7})
    number = write_csv(tmp_path / "jobs.csv", jobs_table(rows.columns, table.view.numbers(), NOW))
    text = (tmp_path / "jobs.csv").read_text()
    assert number == 1
    assert "'=1+1" in text
    assert '"Failed, exit 7"' in text


def test_copied_command_does_the_same_on_the_command_line(tmp_path: Path) -> None:
    done, live = {"id": "abc", "state": "Done"}, {"id": "-de", "state": "Running"}
    assert command_text([done]) == "crossdesk job get-output abc"
    assert command_text([live]) == "crossdesk job log --follow -- -de"
    assert command_text([done, live]) == "crossdesk job status -- abc -de"
    assert command_text([done], tmp_path).startswith("CROSSDESK_STATE_DIR=")


def test_the_run_time_of_a_job_not_heard_from_stands_still(rows: JobStore) -> None:
    silent = JobsTable(rows, lambda place: NOW + 60 if place == "far" else None)
    rows.changed.connect(silent.view.take)
    started = {"state": "Running", "started": NOW}
    put(rows, {"id": "a", "site": "far", **started}, {"id": "b", "site": "near", **started})
    silent.view._now = NOW + 600
    said = {silent.id_at(line): silent.text(line, BY_NAME["runtime"]) for line in range(2)}
    assert said == {"a": "1 m", "b": "10 m"}
