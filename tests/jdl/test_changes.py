"""Attributes are changed as people name them."""

from __future__ import annotations

import pytest

from broker_core.errors import BadRequest
from broker_core.jdl.changes import with_changes
from broker_core.jdl.check import check

TEXT = 'Executable = "/bin/true"; // mine\nArguments = "old";\n'


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("WallTime", "3600", "WallTime = 3600;"),
        ("WallTime", "90m", 'WallTime = "90m";'),
        ("WallTime", "01:30:00", 'WallTime = "01:30:00";'),
        ("arguments", "--steps 5", 'Arguments = "--steps 5";'),
        ("Arguments", '"--steps 5"', 'Arguments = "--steps 5";'),
        ("Arguments", 'say "hi"', 'Arguments = "say \\"hi\\"";'),
        ("CpuNumber", "4", "CpuNumber = 4;"),
        ("Environment", '{"A=1"}', 'Environment = {"A=1"};'),
        ("Requirements", "other.GlueCEStateFreeCPUs > 2", "Requirements = other.GlueCEStateFreeCPUs > 2;"),
    ],
)
def test_a_text_needs_no_quotes_and_an_expression_stays_as_it_is(name: str, value: str, written: str) -> None:
    text = with_changes(TEXT, {name: value})
    assert written in text.split("\n")
    assert "// mine" in text
    assert [one for one in check(text).diagnostics if one.severity == "error"] == []


def test_an_empty_value_takes_the_attribute_out() -> None:
    assert with_changes(TEXT, {"ARGUMENTS": " "}) == 'Executable = "/bin/true"; // mine\n'


@pytest.mark.parametrize("name", ["", "a b", "1a", "a;b", "a=b", "é"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(BadRequest, match="cannot be the name"):
        with_changes(TEXT, {name: "1"})
