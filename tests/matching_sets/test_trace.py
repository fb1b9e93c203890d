"""The trace of a selection: stable, parsable, and the same story as the result (SA-TST-02, SA-UI-02)."""

from __future__ import annotations

import pytest

from broker_core.matching.sets import MODES, SearchTrace
from broker_core.matching.sets.trace import LINES_MAX, SUITABLE_MAX, read
from tests.matching_sets.pools import EIGHT, NO_RANK, of, of_need

INCREMENTAL = """\
1 begin mode=incremental need=10 max_ces=4 max_groups=1000 suitable=3
2 suitable free=4 rank=3 A
3 suitable free=3 rank=2 B
4 suitable free=6 rank=1 C
5 partial size=1 free=4 rank=3 A
6 partial size=2 free=7 rank=2.571428571 A B
7 partial size=1 free=3 rank=2 B
8 partial size=2 free=7 rank=2.571428571 A B
9 partial size=2 free=9 rank=1.333333333 B C
10 partial size=1 free=6 rank=1 C
11 matched size=3 free=13 rank=1.846153846 A B C
12 end groups=1
"""


def test_the_lines_of_a_selection_are_these() -> None:
    trace = SearchTrace()
    of_need(A=4, B=3, C=6).find(10, "incremental", trace=trace)
    assert "\n".join(trace.lines) + "\n" == INCREMENTAL


@pytest.mark.parametrize("mode", MODES)
def test_what_was_matched_in_the_trace_is_what_was_found(mode: str) -> None:
    trace = SearchTrace()
    found = EIGHT.find(10, mode, trace=trace)
    steps = read(trace.lines)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    matched = {frozenset(step.ces) for step in steps if step.kind == "matched"}
    assert matched == {frozenset(EIGHT.named(one)) for one in found}
    assert {step.ces[0] for step in steps if step.kind == "suitable"} == set(EIGHT.ids)
    assert (steps[0].kind, steps[0].values["mode"], steps[0].values["need"]) == ("begin", mode, "10")
    assert (steps[-1].kind, steps[-1].values) == ("end", {"groups": str(len(found))})


def test_partial_groups_are_shown_where_a_mode_has_them() -> None:
    trace = SearchTrace()
    EIGHT.find(10, "listing", trace=trace)
    partial = [step for step in read(trace.lines) if step.kind == "partial"]
    assert partial
    assert all(int(step.values["free"]) < 10 for step in partial)


def test_names_with_blanks_or_signs_are_read_back_as_they_were() -> None:
    names = ("a b", "c=d", "e%f", "ü\n:2119")
    trace = SearchTrace()
    of(names, (2, 2, 2, 2), (NO_RANK, 1, 1, 1)).find(8, trace=trace)
    (matched,) = (step for step in read(trace.lines) if step.kind == "matched")
    assert sorted(matched.ces) == sorted(names)
    assert matched.values == {"size": "4", "free": "8", "rank": "n/a"}


def test_the_trace_of_a_large_selection_is_cut_with_a_word() -> None:
    trace = SearchTrace()
    of_need(**{f"c{place:04}": 1 for place in range(SUITABLE_MAX + 5)}).find(9, "listing", trace=trace)
    steps = read(trace.lines)
    assert steps[SUITABLE_MAX + 1].values == {"suitable": "5"}
    assert len(steps) == LINES_MAX + 3
    assert [step.kind for step in steps[-3:]] == ["cut", "limit", "end"]


@pytest.mark.parametrize("line", ["", "x begin mode=minimal", "1", "1 begin"])
def test_what_is_no_line_of_a_trace_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a line"):
        read([line])
