"""Changing one attribute of a text."""

from __future__ import annotations

import pytest

from broker_core.jdl.syntax.edit import set_attribute

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


PASTED = (
    "# My analysis, see the notes // not a statement\r\n"
    "[\r\n"
    'Executable = "a.sh"; Arguments = "x = 1; // y"; /* A = "no"; */ StdOutput = "o"\r\n'
    "Requirements = other.GlueCEInfoTotalCPUs >= 4   // four\r\n"
    "               && /* and */ true;\r\n"
    'SubJobs = { [ NodeNumber = 2; Executable = "inner"; ] // first\r\n'
    "            [ NodeNumber = 3 ] };  # both\r\n"
    "]\r\n"
    "// the end\r\n"
)


@pytest.mark.parametrize(
    ("name", "value", "before", "after"),
    [
        ("Executable", '"b.sh"', 'Executable = "a.sh"', 'Executable = "b.sh"'),
        ("arguments", '"z"', '"x = 1; // y"', '"z"'),
        ("StdOutput", '"p"', 'StdOutput = "o"', 'StdOutput = "p"'),
        (
            "Requirements",
            "true",
            "other.GlueCEInfoTotalCPUs >= 4   // four\r\n               && /* and */ true",
            "true",
        ),
        ("StdError", '"e"', "};  # both", '};  # both\r\nStdError = "e";'),
        ("Arguments", None, 'Arguments = "x = 1; // y"; ', ""),
    ],
)
def test_a_pasted_text_keeps_its_comments_order_and_line_ends(
    name: str, value: str | None, before: str, after: str
) -> None:
    edited = set_attribute(PASTED, name, value)
    assert edited == PASTED.replace(before, after, 1)


def test_a_whole_line_goes_with_its_statement() -> None:
    assert set_attribute("A = 1;\r\nB = 2;\r\nC = 3;\r\n", "B", None) == "A = 1;\r\nC = 3;\r\n"


def test_a_text_full_of_slips_can_be_edited() -> None:
    text = "Executable := 'a' // slip\nOutputSandbox = [\u201ca\u201d, 'b']\nRank = \u20131\n"
    edited = set_attribute(set_attribute(text, "Rank", "2"), "StdOutput", '"o"')
    assert edited == text.replace("\u20131\n", '2;\nStdOutput = "o";\n')
