"""Attributes are changed as people name them."""

from __future__ import annotations

import pytest

from broker_core.errors import BadRequest
from broker_core.jdl.changes import for_any_site, with_changes
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


CLAUSE = "other.GlueHostMainMemoryRAMSize >= "


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("", "4G", "MemoryPerNode = 4096;"),
        ("", "1.5 GiB", "MemoryPerNode = 1536;"),
        ("", "2000", "MemoryPerNode = 2000;"),
        ("", "0.5m", "MemoryPerNode = 1;"),
        ("MemoryPerNode = 5;", "1T", "MemoryPerNode = 1048576;"),
        ("MemoryPerCPU = 5;", "7M", "MemoryPerNode = 7;"),
        ("MemoryPerNode = 5;", "", ""),
        ("MemoryPerCPU = 5;", " ", ""),
        (f"Requirements = {CLAUSE}100;", "7M", "MemoryPerNode = 7;"),
        ("Requirements = 100 <= other.glueHostMainMemoryRAMSize;", "7M", "MemoryPerNode = 7;"),
        (
            f"Requirements = (a || b) && {CLAUSE}1 && c;",
            "7",
            "Requirements = (a || b) && c;\nMemoryPerNode = 7;",
        ),
        (
            f"Requirements = !({CLAUSE}1);",
            "7",
            f"Requirements = !({CLAUSE}1);\nMemoryPerNode = 7;",
        ),
        (f"Requirements = a && {CLAUSE}1;", "", "Requirements = a;"),
        (f"Requirements = {CLAUSE}1;", " ", ""),
        ("Requirements = a;", "", "Requirements = a;"),
    ],
)
def test_memory_is_asked_for_once_and_all_else_stays(before: str, value: str, after: str) -> None:
    text = with_changes(TEXT + (f"{before}\n" if before else ""), {"memory": value})
    assert text == TEXT + (f"{after}\n" if after else "")


@pytest.mark.parametrize("value", ["lots", "-1", "0", "4X", "4 G G", "1e3", "9" * 40])
def test_what_is_no_size_of_memory_is_refused(value: str) -> None:
    with pytest.raises(BadRequest, match="no size of memory"):
        with_changes(TEXT, {"Memory": value})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('other.GlueSiteName == "a"', None),
        ('(x > 1 || y) && other.GlueSiteName == "a"', "x > 1 || y"),
        ('"a" == other.gluesitename && x', "x"),
        ('other.GlueSiteName != "a"', 'other.GlueSiteName != "a"'),
        ('other.GlueSiteName == "a" || x', 'other.GlueSiteName == "a" || x'),
    ],
)
def test_the_one_site_is_taken_out_of_the_requirements(before: str, after: str | None) -> None:
    wanted = TEXT + (f"Requirements = {after};\n" if after else "")
    assert for_any_site(f"{TEXT}Requirements = {before};\n") == wanted
