"""What programs publish, from bytes in any pieces to curves, arrays, tables and progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.jobs.published.decoder import MOST_LINE, RecordDecoder
from broker_core.jobs.published.recording import MOST_IN_MEMORY, Curve, Recording
from broker_core.jobs.published.records import MOST, ArrayRecord, Points


def line(**words: Any) -> bytes:
    return json.dumps(words).encode() + b"\n"


def array(name: str, values: np.ndarray) -> bytes:
    about = {"shape": list(values.shape), "type": values.dtype.str.lstrip("|"), "bytes": values.nbytes}
    return line(array=name, **about) + values.tobytes()


FIELD = np.arange(6.0).reshape(2, 3)
STREAM = b"".join(
    [
        line(series={"loss": 0.5, "accuracy": 0.25}, x=1),
        array("field", FIELD),
        b"\n",
        line(series={"loss": [0.25, 0.125]}, x=[2, 3]),
        b"a line of a library that prints\n",
        array("picture", np.full((2, 2, 3), 10, np.uint8)),
        line(table="layers", columns=["name", "n"], rows=[["one", 1], ["two"]]),
        line(progress=0.5, text="half\x1b[31m"),
    ]
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_records_are_the_same_in_whatever_pieces_they_come(cuts: list[int]) -> None:
    made = Recording()
    ends = [0, *sorted(cuts), len(STREAM)]
    for start, end in pairwise(ends):
        made.feed(STREAM[start:end])
    assert [one.tolist() for one in made.curves["loss"].points()] == [[1, 2, 3], [0.5, 0.25, 0.125]]
    assert made.arrays["field"].newest.values.tolist() == FIELD.tolist()
    assert made.arrays["picture"].newest.is_picture
    assert made.tables["layers"].rows == (("one", 1), ("two", ""))
    assert made.progress is not None
    assert (made.progress.share, made.progress.text) == (0.5, "half [31m")
    assert (made.records, made.unreadable, made.reason) == (6, 1, "It is no line of JSON.")
    start, size = made.arrays["field"].frames[0]
    (again,) = RecordDecoder().feed(STREAM[start : start + size])
    assert isinstance(again.record, ArrayRecord)
    assert again.record.values.tolist() == FIELD.tolist()


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader(content: bytes) -> None:
    made = Recording()
    made.feed(content + b"\n")
    made.feed(line(series={"after": 1}))
    assert made.position == len(content) + 1 + len(line(series={"after": 1}))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


_WORDS = ("series", "x", "array", "values", "shape", "type", "bytes", "table", "columns", "rows", "progress")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_WORDS, _json)))
def test_a_line_of_anything_is_a_record_or_is_counted(words: Mapping[str, Any]) -> None:
    made = Recording()
    made.feed(json.dumps(words).encode() + b"\n" + line(series={"after": 1}))
    waits = made._decoder._header is not None
    assert made.records + made.unreadable == (0 if waits else 2)


@pytest.mark.parametrize(
    "hostile",
    [
        {"array": "a", "shape": [1 << 40], "type": "<f8", "bytes": 8 << 40},
        {"array": "a", "shape": [2, 2], "type": "<f8", "bytes": 8},
        {"array": "a", "shape": [0], "type": "<f8", "bytes": 0},
        {"array": "a", "shape": [-1, -1], "type": "<f8", "bytes": 8},
        {"array": "a", "shape": [1], "type": "O8", "bytes": 8},
        {"array": "a", "shape": [1], "type": 8, "bytes": 8},
        {"array": "a", "shape": [1, 1, 1, 1], "type": "<f8", "bytes": 8},
        {"array": "a"},
        {"array": "a", "values": [[1], [1, 2]]},
        {"series": {"a": "1"}},
        {"series": {"a": [1, 2]}, "x": [1]},
        {"series": {}},
        {"table": "t", "columns": [], "rows": []},
        {"progress": "soon"},
        {"other": 1},
        [1],
    ],
)
def test_hostile_lines_are_refused_and_what_follows_is_read(hostile: Any) -> None:
    made = Recording()
    made.feed(json.dumps(hostile).encode() + b"\n" + line(series={"after": 1}))
    assert (made.unreadable, list(made.curves)) == (1, ["after"])


def test_a_line_without_end_is_thrown_away_and_takes_no_memory() -> None:
    reader = RecordDecoder()
    for _ in range(MOST_LINE // (1 << 20) * 3):
        assert reader.feed(b"x" * (1 << 20)) == []
    assert len(reader._rest) <= MOST_LINE + (1 << 20)
    (found,) = reader.feed(b"x\n" + line(series={"a": 1}))
    assert isinstance(found.record, Points)
    assert 1 <= reader.unreadable <= 3


def test_the_hole_of_a_file_whose_end_alone_was_brought_is_passed_over() -> None:
    made = Recording()
    made.feed(bytes(3 << 20))
    made.feed(b"rest of a line\n" + line(series={"a": 1}))
    assert list(made.curves) == ["a"]


def test_names_are_bounded_and_what_is_beyond_is_counted() -> None:
    made = Recording()
    for number in range(300):
        made.feed(line(series={f"curve {number}": 1}))
    assert (len(made.curves), made.overflow) == (256, 44)


def test_points_beyond_what_memory_takes_are_thinned_and_the_extremes_stay() -> None:
    made = Recording()
    values = np.zeros(1 << 20)
    values[77] = 9.0
    for _ in range(MOST_IN_MEMORY // len(values) + 1):
        made.curves.setdefault("long", Curve()).add(None, values)
    made.feed(line(series={"short": 1}))
    x, y = made.curves["long"].points()
    assert made.thinned
    assert len(y) <= MOST_IN_MEMORY
    assert len(made.curves["short"]) == 1
    assert (y.max(), x[int(y.argmax())]) == (9.0, 77)


def test_a_job_may_publish_so_much_and_no_more() -> None:
    made = Recording()
    made._decoder.position = MOST - 10
    made.feed(line(series={"a": 1}))
    assert (made.full, made.curves) == (True, {})
