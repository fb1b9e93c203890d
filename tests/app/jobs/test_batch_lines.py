"""The line of a batch says the same of all its jobs, under every order, fold and filter."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import permutations, product
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.jobs.batch_totals import BatchTotals
from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.folding import brief
from app.jobs.table import JobsTable
from app.stores.jobs import JobStore
from broker_core.jobs.batch_names import BatchName
from broker_core.jobs.query import parse
from tests.app.jobs.rows import NOW, columns

_BATCH = {
    "state": "32 of 40 done · 8 failed", "parameter": "", "kind": "Normal", "site": "2 sites", "cpus": "60",
    "wait": "10 s", "runtime": "1 m", "exit": "8 × 3", "reason": "", "id": "sweep",
}  # fmt: skip
FILTERS = {"": 40, "state:failed": 8, "logistic": 40, "site:labhost": 20, "cpu:>1": 20}


def _member(number: int) -> dict[str, Any]:
    """40 jobs of a sweep, the first of which was submitted an hour before the moment of the rows."""
    site = f"{'labhost' if number % 2 else 'other'}:2119/jobmanager-fork-local"
    submitted = NOW - 3600 + number
    return {
        "id": f"m{number:02d}", "batch": "sweep", "name": f"logistic-{number / 10:.4f}",
        "parameter": f"{number / 10:.4f}", "site": site, "cpus": 1 + number % 2, "state": "Done",
        "exit_code": 3 if number % 5 == 0 else 0, "submitted": submitted, "started": submitted + 10,
        "ended": submitted + 70, "reason": "Exit code 3" if number % 5 == 0 else "",
    }  # fmt: skip


@pytest.fixture
def table(qapp: QApplication) -> JobsTable:
    """The sweep, another batch that begins with other names in other orders, and single jobs."""
    rows = JobStore()
    made = JobsTable(rows)
    rows.changed.connect(made.view.take)
    jobs = [_member(number) for number in range(40)]
    jobs += [
        {"id": f"n{number}", "batch": "net", "name": "net", "submitted": NOW - number, "cpus": 4}
        for number in range(5)
    ]
    jobs += [{"id": "alone", "name": "middle", "submitted": NOW - 50, "cpus": 9, "state": "Done"}]
    rows.merge(columns(*jobs))
    rows.flush()
    return made


def _arrange(table: JobsTable, column: str, descending: bool, text: str = "") -> None:
    view = table.view
    view.sort, view.descending, view.query = column, descending, parse(text)
    asyncio.run(view.rebuild())


def _line(table: JobsTable, batch: str) -> dict[str, str]:
    line = table.view.line_of_batch(batch)
    assert line >= 0
    return {column.name: table.text(line, place) for place, column in enumerate(COLUMNS)}


def _outer(table: JobsTable) -> list[str]:
    return [table.id_at(line) for line in range(table.rowCount()) if not table.inside(line)]


@pytest.mark.parametrize(("column", "descending"), list(product([c.name for c in COLUMNS], [True, False])))
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("text", FILTERS)
def test_a_batch_says_the_same_under_every_order_fold_and_filter(
    table: JobsTable, column: str, descending: bool, opened: bool, text: str
) -> None:
    _arrange(table, column, descending, text)
    table.view.fold_all(opened)
    line = _line(table, "sweep")
    shown = FILTERS[text]
    assert line["name"] == f"logistic  ·  {'40 jobs' if shown == 40 else f'{shown} of 40 jobs'}"
    assert {name: line[name] for name in _BATCH} == _BATCH
    tip = table.data(table.index(table.view.line_of_batch("sweep"), BY_NAME["submitted"]), 3)
    assert tip == COLUMNS[BY_NAME["submitted"]].tip(table.rows.columns, table.rows.at["m00"], NOW)


@pytest.mark.parametrize("column", [column.name for column in COLUMNS])
def test_the_order_of_batches_and_jobs_does_not_depend_on_how_rows_came(
    qapp: QApplication, column: str
) -> None:
    orders = []
    for first, second in permutations(
        ([_member(n) for n in range(40)], [_member(n) for n in range(39, -1, -1)])
    ):
        jobs = [*first[:20], {"id": "alone", "name": "middle", "cpus": 9, "state": "Waiting"}, *second]
        seen: dict[str, Any] = {job["id"]: job for job in jobs}
        made = JobsTable(JobStore())
        made.rows.merge(columns(*seen.values()))
        made.rows.flush()
        _arrange(made, column, True)
        orders.append(_outer(made))
    assert orders[0] == orders[1]


def test_a_batch_is_ordered_by_its_own_sum_and_not_by_one_of_its_jobs(table: JobsTable) -> None:
    _arrange(table, "cpus", True)
    assert _outer(table) == ["sweep", "net", "alone"], "60, 20 and 9 CPUs"
    _arrange(table, "name", False)
    assert _outer(table) == ["sweep", "alone", "net"], "logistic, middle, net"
    _arrange(table, "submitted", False)
    assert _outer(table) == ["sweep", "alone", "net"]


def test_sums_follow_each_change_of_a_job(table: JobsTable) -> None:
    _arrange(table, "submitted", True)
    assert _line(table, "sweep")["exit"] == "8 × 3"
    changed = _member(0) | {"exit_code": 0, "cpus": 5, "ended": NOW, "position": 2}
    table.rows.merge(columns(changed))
    table.rows.flush()
    line = _line(table, "sweep")
    assert (line["state"], line["exit"], line["cpus"]) == ("33 of 40 done · 7 failed", "7 × 3", "64")
    table.rows.drop(["m00"])
    table.rows.flush()
    line = _line(table, "sweep")
    assert (line["name"], line["cpus"]) == ("logistic  ·  39 jobs", "59")


def test_a_batch_larger_than_a_slice_is_counted_to_its_end(qapp: QApplication, qtbot: Any) -> None:
    table = JobsTable(JobStore())
    table.rows.changed.connect(table.view.take)
    jobs = ({"id": f"j{n}", "batch": "b", "name": f"big-{n}", "parameter": f"{n}"} for n in range(6000))
    table.rows.merge(columns(*jobs))
    table.rows.flush()
    qtbot.waitUntil(lambda: table.text(0, BY_NAME["cpus"]) == "6,000")
    assert table.text(0, BY_NAME["name"]) == "big  ·  6,000 jobs"


def test_the_memory_of_a_batch_is_that_of_the_job_with_the_most(table: JobsTable) -> None:
    for job, memory in ((0, 3 << 30), (1, 2 << 30), (2, None)):
        table.rows.merge(columns(_member(job) | {"memory": memory, "position": 2}))
    table.rows.flush()
    assert _line(table, "sweep")["memory"] == "3.0 GiB"
    table.rows.merge(columns(_member(0) | {"memory": 1 << 30, "position": 3}))
    table.rows.flush()
    assert _line(table, "sweep")["memory"] == "2.0 GiB"
    assert _line(table, "net")["memory"] == ""


def _running(number: int, state: str, **more: Any) -> dict[str, Any]:
    return {"id": f"r{number}", "batch": "b", "name": "x", "state": state, "submitted": NOW - 1000, **more}


def _remaining(*jobs: dict[str, Any]) -> float | None:
    held, totals = columns(*jobs), BatchTotals()
    totals.add(held, range(len(jobs)))
    return totals.remaining(NOW)


def test_the_end_is_foretold_from_how_long_jobs_ran_and_how_many_run_at_a_time() -> None:
    over = [_running(n, "Done", exit_code=0, started=NOW - 200, ended=NOW - 140) for n in range(3)]
    now = [_running(n, "Running", started=NOW - 30) for n in (3, 4)]
    later = [_running(n, "Waiting") for n in range(5, 15)]
    assert _remaining(*over, *now, *later) == (10 * 60 + 2 * 30) / 2
    assert _remaining(*over[:2], *now, *later) is None, "two jobs are no ground to foretell others"
    assert _remaining(*over, *later) is None, "how many can run at a time is not known while none does"


@pytest.mark.parametrize(("jobs", "name"), [
    ([("scan-1", "1"), ("scan-10", "10")], "scan"),
    ([("a-alpha", "a"), ("b-alpha", "b")], "alpha"),
    ([("same", "1"), ("same", "2")], "same"),
    ([("Node_1_5", "1.5"), ("Node_2", "2")], "Node"),
    ([("fit-1.dat", "1"), ("fit-2.dat", "2")], "fit.dat"),
    ([("beta", ""), ("alpha", "")], "alpha, beta"),
    ([("1", "1"), ("2", "2"), ("3", "3")], "1, 2, …"),
])  # fmt: skip
def test_the_name_of_a_batch_is_that_of_its_jobs_without_their_values(
    jobs: list[tuple[str, str]], name: str
) -> None:
    for order in permutations(jobs):
        named = BatchName()
        for one in order:
            named.add(*one)
        assert named.common() == name


def test_where_there_is_little_room_a_line_tells_the_numbers_alone() -> None:
    assert brief(Counter({"Done": 200})) == "200 done"
    assert brief(Counter({"Done": 32, "Failed": 8})) == "32 of 40"
