"""Changing one attribute of a text."""

from __future__ import annotations

import pytest

from broker_core.jdl.edit import set_attribute

TEXT = '[\n  // the program\n  Executable = "a.sh"; /* here */\n  Rank = (1 + 2);\n]\n'


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("executable", '"b.sh"', TEXT.replace("a.sh", "b.sh")),
        ("Rank", "7", TEXT.replace("(1 + 2)", "7")),
        ("Rank", None, TEXT.replace("  Rank = (1 + 2);\n", "")),
        ("Missing", None, TEXT),
        ("New", "1", TEXT.replace("(1 + 2);\n", "(1 + 2);\n  New = 1;\n")),
    ],
)
def test_only_the_named_attribute_changes(name: str, value: str | None, expected: str) -> None:
    assert set_attribute(TEXT, name, value) == expected


def test_the_first_attribute_of_an_empty_text_is_written() -> None:
    assert set_attribute("", "A", "1") == "A = 1;\n"
    assert set_attribute("// only a comment", "A", "1") == "// only a comment\nA = 1;\n"
    assert set_attribute("[]", "A", "1") == "[\nA = 1;\n]"


def test_a_last_statement_without_its_end_gets_one() -> None:
    assert set_attribute("A = 1", "B", "2") == "A = 1;\nB = 2;"
    assert set_attribute("A = 1", "A", "2") == "A = 2"


def test_names_that_need_quotes_get_them() -> None:
    assert set_attribute("", "a b", "1") == "'a b' = 1;\n"
