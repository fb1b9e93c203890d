"""What the query language means, word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.jobs.query import complete, parse
from tests.app.jobs.rows import NOW, columns

ROWS = columns(
    {"id": "a", "name": "ann-1", "state": "Running", "cpus": 8, "site": "alpha",
     "started": NOW - 50, "submitted": NOW - 60, "memory": 5 << 30},
    {"id": "b", "name": "bob two", "state": "Done", "exit_code": 3, "ended": NOW - 5, "started": NOW - 400,
     "submitted": NOW - 90_000, "memory": 600_000_000},
    {"id": "c", "name": "carl", "state": "Aborted", "ended": NOW - 7, "submitted": NOW - 600},
    {"id": "d", "name": "dora", "state": "Waiting", "held": "by ann", "parameter": "0.5",
     "submitted": NOW - 5},
    {"id": "e", "name": "eve", "state": "Done", "exit_code": 0, "ended": NOW - 3, "started": NOW - 4,
     "submitted": NOW - 7},
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", "abcde"), ("state:running", "a"), ("state:run,abort", "ac"), ("-state:done", "abcd"),
        ("state:failed", "bc"), ("state:done", "e"), ("state:done,failed", "bce"), ("state:aborted", "c"),
        ("state:held", "d"), ("state:queued", "d"), ("state:ended", "bce"),
        ("cpu:>4", "a"), ("cpus:<=1", "bcde"), ("name:ann*", "a"), ('name:"bob two"', "b"), ("bob", "b"),
        ("0.5", "d"), ("exit:≠0", "b"), ("exit:!=0", "b"), ("exit:0", "e"), ("age:<2h", "acde"),
        ("failed:1h", "bc"), ("wait:>10m", "b"), ("runtime:>1m", "b"), ("site:alpha cpu:8", "a"),
        ("kind:batch", "abcde"), ("kind:interactive", ""), ("id:c", "c"),
        ("memory:>4G", "a"), ("mem:<=1GiB", "b"), ("memory:>500m", "ab"), ("memory:600000000", "b"),
    ],
)  # fmt: skip
def test_a_query_finds_its_jobs(query: str, wanted: str) -> None:
    parsed = parse(query)
    found = parsed.select(ROWS, range(5), NOW)
    assert not parsed.problems
    assert "".join(ROWS["id"][row] for row in found) == wanted
    assert found == [row for row in range(5) if parsed.matches(ROWS, row, NOW)]


@pytest.mark.parametrize(
    "query", ["colour:red", "state:purple", "cpu:many", "memory:4X", "age:soon", "failed:sometime", "state:"]
)
def test_what_means_nothing_is_told_with_what_would(query: str) -> None:
    problem = parse(query).problems[0]
    assert query[problem.start : problem.end] == query
    assert len(problem.message) > 20


@given(st.text(max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    assert parse(text).text == text
    assert isinstance(complete(text, len(text)), list)


def test_completion_offers_fields_then_values() -> None:
    assert [offer.text for offer in complete("sta", 3)] == ["state:"]
    assert "running " in [offer.text for offer in complete("state:", 6)]
    assert [offer.start for offer in complete("cpu:>4 state:run", 16)] == [13]
