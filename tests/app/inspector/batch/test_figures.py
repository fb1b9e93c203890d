"""How a batch went, why its jobs failed, and numbers in its outputs."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.inspector.batch.figures import course_of, failures_of
from app.inspector.batch.numbers import NumberNotFound, NumberQuestion, NumberSource, named_by_value, names_in
from app.inspector.batch.tables import ValuesTable
from app.stores.jobs import JobStore
from tests.app.jobs.rows import NOW, columns

_HOST, _HERE = "labhost:2119/jobmanager-fork-x", "localhost:2119/jobmanager-fork-local"


def _failed(number: int, line: str, code: int = 3, site: str = _HERE) -> dict[str, object]:
    return {
        "id": f"f{number}", "parameter": f"{number}", "state": "Done", "exit_code": code, "site": site,
        "error_line": line, "reason": f"Exit code {code}", "signal": None,
    }  # fmt: skip


def test_failures_are_grouped_by_what_was_said_last_whatever_the_value() -> None:
    jobs = [_failed(number, f"rate {number} does not converge") for number in range(3)]
    jobs += [_failed(7, "rate 7 does not converge", site=_HOST), _failed(8, "no such file", code=2)]
    jobs += [_failed(9, "", code=9), {"id": "ok", "state": "Done", "exit_code": 0}]
    held = columns(*jobs)
    groups = failures_of(held, range(len(jobs)))
    assert [(group.reason, group.cause, group.sites, group.jobs) for group in groups] == [
        ("rate … does not converge", "exit 3", "labhost 1, local 3", ("f0", "f1", "f2", "f7")),
        ("Exit code 9", "exit 9", "local", ("f9",)),
        ("no such file", "exit 2", "local", ("f8",)),
    ]


def test_what_a_killed_job_was_ended_by_stands_beside_its_reason() -> None:
    job = {"id": "k", "state": "Aborted", "signal": 9, "reason": "ended by signal 9"}
    (group,) = failures_of(columns(job), [0])
    assert (group.reason, group.cause) == ("ended by signal 9", "SIGKILL")


def test_the_course_steps_at_each_start_and_end_and_goes_on_until_now_while_jobs_run() -> None:
    held = columns(
        {"id": "a", "state": "Done", "exit_code": 0, "submitted": 0.0, "started": 10.0, "ended": 20.0},
        {"id": "b", "state": "Done", "exit_code": 1, "submitted": 0.0, "started": 10.0, "ended": 30.0},
        {"id": "c", "state": "Running", "submitted": 0.0, "started": 15.0},
    )
    course = course_of(held, [0, 1, 2], 40.0)
    assert course.times[0] == 0.0
    assert course.times[-1] == 40.0
    last = {moment: place for place, moment in enumerate(course.times)}
    at = {
        moment: (course.running[place], course.done[place], course.failed[place])
        for moment, place in last.items()
    }
    assert at == {
        0.0: (0, 0, 0),
        10.0: (2, 0, 0),
        15.0: (3, 0, 0),
        20.0: (2, 1, 0),
        30.0: (1, 1, 1),
        40.0: (1, 1, 1),
    }


def test_a_course_of_many_jobs_is_thinned_and_keeps_its_end() -> None:
    jobs = [
        {"id": f"{n}", "state": "Done", "exit_code": 0, "submitted": 0.0, "started": n, "ended": n + 5.0}
        for n in range(1, 5001)
    ]
    course = course_of(columns(*jobs), range(5000), NOW)
    assert len(course.times) <= 1002
    assert (course.times[-1], course.done[-1], course.running[-1]) == (5005.0, 5000, 0)
    assert course_of(columns({"id": "w"}), [0], NOW).times == []


@pytest.mark.parametrize(("source", "what", "content", "number"), [
    (NumberSource.COLUMN, "loss", "step,loss\n1,0.9\n2,0.25\n", 0.25),
    (NumberSource.COLUMN, "loss", "step;loss\n1;4e-3\n", 0.004),
    (NumberSource.KEY, "fit.slope", '{"fit": {"slope": 2.5}}', 2.5),
    (NumberSource.KEY, "runs.-1", '{"runs": [1, 2, 3]}', 3.0),
    (NumberSource.PATTERN, r"energy = ([-\d.]+)", "energy = -1\nenergy = -2.5\n", -2.5),
    (NumberSource.PATTERN, r"\d+$", "took 12", 12.0),
])  # fmt: skip
def test_a_number_is_found_in_columns_keys_and_by_patterns(
    source: NumberSource, what: str, content: str, number: float
) -> None:
    assert NumberQuestion("x", source, what).answer(content.encode()) == number


@pytest.mark.parametrize(("source", "content", "names"), [
    (NumberSource.COLUMN, "step,loss,what\n1,0.9,ok\n", ["step", "loss"]),
    (NumberSource.COLUMN, "step;\n1;2\n", ["step"]),
    (NumberSource.COLUMN, "", []),
    (NumberSource.KEY, '{"fit": {"slope": 2.5, "name": "x"}, "n": 3, "l": [1]}', ["fit.slope", "n"]),
    (NumberSource.KEY, "no", []),
    (NumberSource.KEY, "[" * 100_000, []),
    (NumberSource.PATTERN, "a,b\n1,2\n", []),
])  # fmt: skip
def test_names_under_which_a_file_has_numbers_are_offered(
    source: NumberSource, content: str, names: list[str]
) -> None:
    assert names_in(source, content.encode()) == names


@pytest.mark.parametrize(("source", "what", "content", "said"), [
    (NumberSource.COLUMN, "loss", "step,cost\n1,2\n", "columns are step, cost"),
    (NumberSource.COLUMN, "loss", "", "columns are none"),
    (NumberSource.COLUMN, "a", "a,b\nx,1\n", "'x' is not a number"),
    (NumberSource.KEY, "b", '{"a": 1}', "keys are a"),
    (NumberSource.KEY, "a.b", '{"a": 1}', "There is no key 'b'"),
    (NumberSource.KEY, "a", "no", "not JSON"),
    (NumberSource.PATTERN, "(", "x", "cannot be read"),
    (NumberSource.PATTERN, r"y=(\d)", "x", "The expression matches nothing"),
])  # fmt: skip
def test_what_is_there_instead_is_said_where_there_is_no_such_number(
    source: NumberSource, what: str, content: str, said: str
) -> None:
    with pytest.raises(NumberNotFound, match=said.replace("(", r"\(")):
        NumberQuestion("x", source, what).answer(content.encode())


def test_values_that_are_numbers_are_ordered_as_numbers(qapp: QApplication) -> None:
    rows = JobStore()
    rows.merge(columns(*({"id": f"j{value}", "parameter": value} for value in ("10", "9", "2.5", "1e3"))))
    table = ValuesTable(rows)
    asyncio.run(table.arrange([0, 1, 2, 3], 0, False))
    assert [table.data(table.index(at, 0)) for at in range(4)] == ["2.5", "9", "10", "1e3"]
    kept = table.index(0, 0)
    assert table.data(kept, Qt.ItemDataRole.ToolTipRole) == "job j2.5"
    asyncio.run(table.arrange([0, 1, 2, 3], 0, True))
    assert [table.job_at(at) for at in range(4)] == ["j1e3", "j10", "j9", "j2.5"]
    rows.merge(columns({"id": "jred", "parameter": "red"}))
    asyncio.run(table.arrange([0, 1, 2, 3, 4], 0, False))
    assert [table.data(table.index(at, 0)) for at in range(5)] == ["2.5", "9", "10", "1e3", "red"]


def test_files_that_each_job_names_by_its_value_are_one_choice() -> None:
    first = ["value 1.csv", "run1/fit_1.json", "table.csv", "step 1.txt"]
    others = ["value 25.csv", "run25/fit_25.json", "table.csv", "step 1 of 3.txt"]
    named = named_by_value(first, "1", others, "25")
    assert named == ["value _PARAM_.csv", "run_PARAM_/fit__PARAM_.json", "table.csv", "step 1.txt"]
    assert NumberQuestion(named[0], NumberSource.COLUMN, "loss").file_of("7") == "value 7.csv"
    assert named_by_value(["a.csv"], "", ["b.csv"], "") == ["a.csv"], "jobs without values"
