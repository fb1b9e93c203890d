"""The totals of a batch stay the same however often its members are run again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.command_line.job.folding import summary
from broker_core.command_line.job.following import failed
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.reruns import RerunChains, latest_members
from broker_core.jobs.states import JobState

Row = dict[str, object]


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Row], dict[int, Row]]:
    """Rows of a batch in any order, and each member as it ran last."""
    members = draw(st.integers(1, 40))
    codes = st.sampled_from([0, 0, 0, 3])
    rows: list[Row] = []
    last: dict[int, Row] = {}
    for member in [*range(members), *draw(st.lists(st.integers(0, members - 1), max_size=60))]:
        before = str(last[member]["id"]) if member in last else ""
        row: Row = {"id": f"job{len(rows)}", "parameter": str(member), "rerun_of": before}
        row |= {"state": JobState.DONE.value, "exit_code": draw(codes), "batch": "b"}
        rows.append(row)
        last[member] = row
    return draw(st.permutations(rows)), last


@given(batches())
def test_each_member_counts_once_as_it_ran_last(made: tuple[list[Row], dict[int, Row]]) -> None:
    rows, last = made
    columns = ([str(row[name]) for row in rows] for name in ("id", "rerun_of", "batch"))
    places = latest_members(*columns)
    counted = sorted(str(rows[place]["id"]) for place in places)
    assert counted == sorted(str(one["id"]) for one in last.values())
    assert places == sorted(places)


@given(batches())
def test_counts_of_the_command_line_are_those_of_the_members(
    made: tuple[list[Row], dict[int, Row]],
) -> None:
    rows, last = made
    bad = sum(bool(row["exit_code"]) for row in last.values())
    said = summary(rows)
    assert said.startswith(f"{len(last):,} job{'s' if len(last) != 1 else ''}: ")
    assert (f"{bad} {Outcome.FAILED.value}" in said) is (bad > 0)
    assert failed(rows) is (bad > 0)


@given(batches(), st.data())
def test_members_stay_the_same_whichever_of_their_runs_are_removed(
    made: tuple[list[Row], dict[int, Row]], data: st.DataObject
) -> None:
    rows, last = made
    chains = RerunChains()
    for row in rows:
        chains.add(str(row["id"]), str(row["rerun_of"]))
    order = data.draw(st.permutations([str(row["id"]) for row in rows]))
    gone = set(order[: data.draw(st.integers(0, len(order)))])
    for job in order[: len(gone)]:
        chains.remove(job)
    left = [row for row in rows if row["id"] not in gone]
    counting = [row["parameter"] for row in left if row["id"] not in chains.later]
    assert sorted(counting) == sorted({row["parameter"] for row in left})
    assert len(last) >= len(counting)


def test_what_belongs_to_no_batch_is_no_member_and_each_of_its_runs_is_a_job() -> None:
    ids, reruns = ["c", "b", "a"], ["b", "a", ""]
    assert latest_members(ids, reruns, [""] * 3) == [0, 1, 2]
    assert latest_members(ids, reruns, ["x"] * 3) == [0]


def test_a_closed_chain_stays_closed_whoever_tells_of_its_last_run_once_more() -> None:
    chains = RerunChains()
    for job, before in (("a", ""), ("b", "a"), ("c", "b")):
        chains.add(job, before)
    assert chains.remove("b") == ("a", "c")
    chains.add("c", "b")
    assert chains.later == {"a": "c"}
