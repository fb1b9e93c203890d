"""Lines of several texts beside each other: nothing is lost, nothing is invented, equal lines meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.inspector.compare.aligned_view import changed_parts
from app.inspector.compare.alignment import (
    AlignedRow,
    FoldedRows,
    align,
    align_texts,
    equal_blocks,
    only_differences,
    without_numbers,
)

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "step 1", "step 2"]), max_size=40)


@given(st.lists(LINES, min_size=2, max_size=5))
def test_every_line_of_every_text_stands_in_exactly_one_row_in_its_order(texts: list[list[str]]) -> None:
    rows = align(texts)
    for column, text in enumerate(texts):
        assert [row.lines[column] for row in rows if row.lines[column] >= 0] == list(range(len(text)))
    for row in rows:
        there = {text[line] for text, line in zip(texts, row.lines, strict=True) if line >= 0}
        assert row.equal is (min(row.lines) >= 0 and len(there) == 1)


@given(LINES)
def test_equal_texts_have_equal_rows_only(text: list[str]) -> None:
    assert all(row.equal for row in align([text, list(text), list(text)]))


@given(LINES, LINES)
def test_blocks_are_equal_and_do_not_overlap(one: list[str], other: list[str]) -> None:
    numbers: dict[str, int] = {}
    here, there = ([numbers.setdefault(line, len(numbers)) for line in text] for text in (one, other))
    last = (0, 0)
    for begin, start, size in equal_blocks(here, there):
        assert begin >= last[0]
        assert start >= last[1]
        assert here[begin : begin + size] == there[start : start + size]
        last = (begin + size, start + size)


def test_a_line_more_in_one_text_moves_no_other() -> None:
    rows = align([["a", "b", "c"], ["a", "x", "b", "c"]])
    assert rows == [
        AlignedRow((0, 0), True),
        AlignedRow((-1, 1), False),
        AlignedRow((1, 2), True),
        AlignedRow((2, 3), True),
    ]


def test_numbers_can_be_left_out_of_the_comparison() -> None:
    one, other = ["12:01:07 loss 0.25", "end"], ["13:44:59 loss 1e-3", "end"]
    assert [row.equal for row in align([one, other], without_numbers)] == [False, True]
    assert [row.equal for row in align([one, ["13:44:59 loss 0.5", "end"]], without_numbers)] == [True, True]


def test_twenty_thousand_lines_without_a_unique_one_are_compared_in_bounded_work() -> None:
    first = [f"line {number % 7}" for number in range(20_000)]
    second = ["begin", *(f"line {number % 5}" for number in range(20_000))]
    asked: list[int] = []

    def wanted() -> bool:
        asked.append(1)
        return True

    content = align_texts([first, second], wanted=wanted)
    assert content.differing
    assert len(asked) < 100


def test_a_comparison_that_nobody_wants_any_more_ends_at_once() -> None:
    assert equal_blocks([1, 2, 3], [1, 2, 3], lambda: False) == []


@given(st.lists(st.booleans(), max_size=60))
def test_folding_hides_equal_rows_only_and_loses_none(equal: list[bool]) -> None:
    rows = [AlignedRow((at, at), one) for at, one in enumerate(equal)]
    covered: list[int] = []
    for one in only_differences(rows):
        if isinstance(one, FoldedRows):
            assert all(row.equal for row in rows[one.first : one.first + one.count])
            covered += range(one.first, one.first + one.count)
        else:
            covered.append(one)
    assert covered == list(range(len(rows)))


def test_the_part_of_a_line_that_differs_is_between_what_all_have() -> None:
    assert changed_parts(["rate = 0.1;", "rate = 0.25;"], (0, 0)) == [(9, 10), (9, 11)]
    assert changed_parts(["same", "same"], (0, 0)) == [(4, 4), (4, 4)]
    assert changed_parts(["", "new"], (-1, 0)) == [(0, 0), (0, 0)]
