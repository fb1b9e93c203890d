"""Search in logs: words, expressions, and the first error of real programs."""

from __future__ import annotations

import pytest

from app.inspector.logs.search import Hits, LogQuery, first_error, search
from app.inspector.logs.spool import LogSpool
from tests.app.inspector.spools import spooled


def found(spool: LogSpool, text: str, regex: bool = False) -> Hits:
    return search(spool, LogQuery(text, regex), Hits(), lambda: True)


def test_a_word_is_found_everywhere_whatever_its_case() -> None:
    spool = spooled(b"Loss 1\nloss 2\nLOSS loss\n")
    assert found(spool, "loss").offsets == [0, 7, 14, 19]


def test_an_expression_is_found_at_its_offset_behind_other_scripts() -> None:
    text = "größe 7\nпотеря 12\n"
    hits = found(spooled(text.encode()), r"\d+", regex=True)
    assert hits.offsets == [text.encode().index(b"7"), text.encode().index(b"12")]


def test_a_wrong_expression_is_a_sentence_and_not_an_exception() -> None:
    assert found(spooled(b"x\n"), "(", regex=True).problem.startswith("Not a regular expression")


def test_an_expression_that_would_never_end_is_given_up() -> None:
    hits = found(spooled(b"a" * 8000 + b"\n" + b"a" * 8000), r"(a|aa)+(a|aa)+(a|aa)+b", regex=True)
    assert hits.problem or hits.searched


def test_a_search_goes_on_where_the_log_has_grown() -> None:
    spool = spooled(b"one hit\n")
    hits = found(spool, "hit")
    spool.append(b"another hit\n")
    assert len(search(spool, LogQuery("hit"), hits, lambda: True).offsets) == 2


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "main.c:12:5: error: 'x' undeclared",
        "Segmentation fault (core dumped)",
        "FAILED tests/test_a.py::test_b",
        "ValueError: too many values",
        "terminate called: std::runtime_error: no",
        "sh: 1: nosuch: command not found",
        "cat: data: No such file or directory",
        "slurmstepd: Out Of Memory",
    ],
)
def test_the_first_error_is_found_among_harmless_lines(line: str) -> None:
    harmless = b"epoch 1 error rate 0.5\n0 errors so far\nterror is not one\n"
    assert first_error(spooled(harmless + line.encode() + b"\nmore\n")) is not None
    begin = first_error(spooled(harmless + line.encode() + b"\nmore\n"))
    assert begin is not None
    assert begin >= len(harmless)


def test_a_clean_log_has_no_first_error() -> None:
    assert first_error(spooled(b"all well\nerror rate 0.01\n0 failures\n")) is None
