"""Columns and pools keep what resources say, row by row, and grow no larger than needed."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.matching.match import match
from broker_core.matching.report import report, steps
from broker_core.resources.columns import Columns
from broker_core.resources.pool import NO_ACCESS, Pool
from broker_core.resources.tags import TAGS
from broker_core.resources.values import facts, idle, values
from broker_core.wire.matches import MatchReport
from tests.matching import pools_made
from tests.matching.made import job, resource

_NAMES = ("gluehostprocessorclockspeed", "gluehostprocessorvendor", "gluehostprocessormodel")
_MADE = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from([0.0, -0.0, 1.0]),
    st.text(max_size=2),
    st.just(["a", "b"]),
)


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.one_of(st.none(), st.dictionaries(st.sampled_from(_NAMES), _MADE))),
        max_size=60,
    )
)
@settings(max_examples=100, deadline=None)
def test_columns_hold_what_was_put_last(steps: list[tuple[int, dict[str, Any] | None]]) -> None:
    columns, expected = Columns(), {}
    for number, known in steps:
        ce = f"ce{number}"
        if known is None:
            columns.remove(ce)
            expected.pop(ce, None)
        else:
            columns.put(ce, "site", known)
            expected[ce] = known
    assert len(columns) == len(expected)
    assert [columns.ces[row] for row in columns.order(columns.size)] == sorted(expected)
    for ce, known in expected.items():
        row = columns.row_of(ce)
        assert row is not None
        assert {name: repr(value) for name, value in columns.values(row).items()} == {
            name: repr(value) for name, value in known.items()
        }


def test_a_pool_shows_the_values_of_its_records() -> None:
    records = pools_made.resources(random.Random(5), 40)
    pool = Pool.of(records)
    for row, record in enumerate(records):
        assert repr(sorted(pool.values(row).items())) == repr(sorted(values(record).items()))
        quiet = pool.idle().values(row)
        assert repr(sorted(quiet.items())) == repr(sorted(values(idle(record)).items()))


def test_a_record_made_of_columns_is_seen_like_the_one_they_were_made_of() -> None:
    records = pools_made.resources(random.Random(6), 20)
    pool = Pool.of(records)
    pool.records = {}
    for row, record in enumerate(records):
        again = pool.resource(row)
        assert (again.ce, again.free_cpus, again.waiting) == (record.ce, record.free_cpus, record.waiting)
        assert repr(sorted(values(again).items())) == repr(sorted(values(record).items()))


def test_both_vocabularies_share_one_column() -> None:
    columns = Columns()
    for number in range(50):
        known = facts(
            {"GlueHostMainMemoryRAMSize": number, "GlueHostOperatingSystemName": "SL"}, f"ce{number}", "s"
        )
        columns.put(f"ce{number}", "s", known)
    assert columns.column("glue2executionenvironmentmainmemorysize") is columns.column(
        "gluehostmainmemoryramsize"
    )
    assert columns.values(7)["glue2executionenvironmentmainmemorysize"] == 7
    different = facts(
        {"GlueHostMainMemoryRAMSize": 1, "GLUE2ExecutionEnvironmentMainMemorySize": 2}, "ce3", "s"
    )
    columns.put("ce3", "s", different)
    assert columns.values(3)["gluehostmainmemoryramsize"] == 1
    assert columns.values(3)["glue2executionenvironmentmainmemorysize"] == 2
    assert columns.values(7)["glue2executionenvironmentmainmemorysize"] == 7


def test_values_that_nobody_has_any_more_are_forgotten() -> None:
    columns = Columns()
    for number in range(1000):
        columns.put("ce", "s", {"gluehostprocessorloadlast1min": number})
    column = columns.column("gluehostprocessorloadlast1min")
    assert column is not None
    assert len(column.values) < 120
    assert columns.values(0) == {"gluehostprocessorloadlast1min": 999}


def test_putting_the_same_again_is_no_change() -> None:
    columns = Columns()
    columns.put("ce", "s", {"gluecename": "q", "gluehostprocessorloadlast1min": float("nan")})
    before = columns.version
    columns.put("ce", "s", {"gluecename": "q", "gluehostprocessorloadlast1min": float("nan")})
    assert columns.version == before
    columns.put("ce", "s", {"gluecename": "Q"})
    assert columns.version > before


@pytest.mark.parametrize(
    "name", ["GLUE2ComputingShareFreeSlots", "GlueHostFreeCPUs", "GlueCEStateFreeJobSlots"]
)
def test_counts_of_the_record_have_precedence_over_published_ones(name: str) -> None:
    pool = Pool.of([resource(free=3, **{name: 99})])
    assert pool.value(0, name.lower()) == 3
    assert values(pool.resource(0))[name.lower()] == 3


@pytest.mark.parametrize(
    "wanted",
    [
        "Requirements = false;",
        'OutputSE = "se.example.org";',
        'SubmitTo = "b:1/jobmanager-fork-x";',
        'SubmitTo = "c:1/jobmanager-fork-x";',
        "Requirements = other.GlueCEStateWaitingJobs > 5; Rank = other.GlueCEStateFreeCPUs;",
        'Requirements = other.GlueCEStateStatus == "Closed"; Rank = other.GlueHostBenchmarkSI00;',
        'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 500;',
    ],
)
def test_a_snapshot_is_answered_from_while_further_resources_become_known(wanted: str) -> None:
    pool = Pool.of([resource("b"), resource("d")])
    before = pool.snapshot()
    matches = match(job(wanted), before)
    for number in range(40):
        pool.columns.put(f"c{number}:1/jobmanager-fork-x", "c", {"gluecestatestatus": "Closed"})
    told = report(matches, policy="best-fit")
    assert {one.site for one in told.resources} == {"b", "d"}
    assert (told.known, len(told.resources)) == (2, 2)
    assert told.analysis
    assert matches.feasible == match(job(wanted), [resource("b"), resource("d")]).feasible


@pytest.mark.parametrize("wanted", ["", "Requirements = false;"])
def test_what_is_removed_while_a_snapshot_is_answered_from_is_left_out(wanted: str) -> None:
    pool = Pool.of([resource("a"), resource("b"), resource("c")])
    matches = match(job(wanted), pool.snapshot())
    told: list[MatchReport] = []
    work = _told(steps(matches), told)
    next(work)
    pool.columns.remove("b:2119/jobmanager-fork-q")
    pool.columns.remove("c:2119/jobmanager-fork-q")
    pool.columns.put("z:1/jobmanager-fork-x", "z", {})
    assert not [step for step in work if step]
    assert [one.site for one in told[0].resources] == ["a"]


def _told(work: Generator[None, None, MatchReport], into: list[MatchReport]) -> Iterator[None]:
    into.append((yield from work))


def test_what_is_kept_for_a_snapshot_is_not_given_to_a_wider_one() -> None:
    wanted = job("Rank = other.GlueHostBenchmarkSI00;")
    wide = Pool.of([resource("b"), resource("d"), resource("e")])
    narrow = wide.snapshot()
    narrow.rows = 2
    for row in range(3):
        ce = wide.columns.ces[row]
        wide.columns.put(ce, wide.columns.sites[row], {TAGS: ["PolicyMaxSlotsPerJobs_x=3"]})
    for looked_at, sites in ((narrow, ["b", "d"]), (wide, ["b", "d", "e"]), (narrow, ["b", "d"])):
        assert sorted(one.resource.site for one in match(wanted, looked_at).candidates) == sites


def test_a_snapshot_keeps_counts_and_bars_while_the_pool_changes() -> None:
    pool = Pool.of([resource(free=3)])
    before = pool.snapshot()
    pool.free[0] = 0
    pool.barred[0] = NO_ACCESS
    assert before.value(0, "gluecestatefreecpus") == 3
    assert not before.barred


def test_a_resource_without_access_is_barred() -> None:
    record = resource()
    pool = Pool.of([record, type(record)("other", "s", 1, 1, 0, 0, 0.0, {}, access=False)])
    assert list(pool.barred) == [1]
    assert pool.without("access").barred == {}
    assert pool.idle().barred == pool.barred
