"""Expressions tried out from the shell, with the values that matching would see."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command_line.calling import crossdesk

RESOURCE = """
GlueCEUniqueID = "ce.site:2119/jobmanager-pbs-long"
GlueCEInfoTotalCPUs = 16
GlueCEStateFreeCPUs = 4
GlueHostApplicationSoftwareRunTimeEnvironment = ["OPENMPI", "MPI-START"]
"""


def test_an_expression_has_its_value_on_one_line() -> None:
    said = crossdesk("jdl", "eval", '1 + 2 * 3 > 6 && Member("a", {"A"})')
    assert (said.code, said.out) == (0, "true\n")


def test_names_come_from_the_description_and_the_resource(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('Executable = "/bin/true"; Wanted = 4;')
    (tmp_path / "ce.toml").write_text(RESOURCE)
    asked = (
        'other.GlueHostFreeCPUs >= Wanted && Member("MPI-START", other.GlueHostApplicationRunTimeEnvironment)'
    )
    said = crossdesk("jdl", "eval", asked, "--self", "job.jdl", "--other", "ce.toml", cwd=tmp_path)
    assert (said.code, said.out) == (0, "true\n")


def test_a_resource_can_be_an_ad_and_answers_in_both_vocabularies(tmp_path: Path) -> None:
    (tmp_path / "ce.ad").write_text("[ GlueCEInfoTotalCPUs = 2 * 8; GlueCEStateFreeCPUs = 3 ]")
    asked = "{other.GlueCEInfoTotalCPUs, other.GlueHostFreeCPUs, other.GLUE2ComputingShareFreeSlots}"
    said = crossdesk("jdl", "eval", asked, "--other", "ce.ad", "--json", cwd=tmp_path)
    assert said.json == {"expression": asked, "type": "list", "value": [16, 3, 3], "text": "{16, 3, 3}"}


def test_undefined_and_error_are_values_not_failures() -> None:
    said = crossdesk("jdl", "eval", "other.GlueCENothing > 1", "--json")
    assert (said.code, said.json["type"], said.json["value"]) == (0, "undefined", None)
    assert crossdesk("jdl", "eval", '1 + "a"').out == "error\n"


def test_a_value_that_is_error_is_told_with_the_reason_where_it_is_known(tmp_path: Path) -> None:
    asked = {
        "1 + 4 / (2 - 2)": "divided by zero",
        "random()": "no chance is given",
        'regexp("(a+)+b", "aaaa")': "steps",
        'regexp("(", "a")': "no regular expression",
        f'regexp("a", "{"x" * 20000}")': "a text 16,384",
        "member(1, 2, 3)": "is written member(",
        "nothing(1)": "there is no function nothing",
        "{1, 2}[7]": "no such item",
        '1 + "a"': "+ cannot be used with these values",
        '"a" && true': "&& cannot be used with these values",
        '[ a = 1 ; b = {2 * "x"} ].b[0]': "",
    }
    (tmp_path / "asked.txt").write_text("\n".join(asked))
    said = crossdesk("jdl", "eval", "--from", "asked.txt", cwd=tmp_path)
    assert said.out == "error\n" * len(asked)
    told = {int(line.split(":")[1]): line for line in said.err.splitlines() if line.startswith("asked.txt")}
    for number, words in enumerate(asked.values(), 1):
        assert words in told.get(number, "")
    value = crossdesk("jdl", "eval", "--json", "7 / 0").json
    assert (value["type"], value["why"]) == ("error", "a number is divided by zero")


def test_a_mistake_is_told_with_its_place() -> None:
    said = crossdesk("jdl", "eval", "1 + (2 *")
    assert (said.code, said.out) == (1, "error\n")
    assert "expression:1:9: error[expected-value]" in said.err
    assert "  1 + (2 *\n          ^" in said.err


def test_an_expression_may_begin_with_a_minus() -> None:
    assert crossdesk("jdl", "eval", "-5 / 2").out == "-2\n"
    assert crossdesk("jdl", "eval", "--json", "-(other.Hosts ?: 3)").json["value"] == -3
    assert crossdesk("jdl", "eval", "--slef", "x", "1").code == 2


def test_one_resource_of_a_file_of_resources_is_used(tmp_path: Path) -> None:
    table = '[[resources]]\nce = "{0}:2119/jobmanager-pbs-q"\nsite = "{0}"\nGlueCEInfoTotalCPUs = {1}\n'
    (tmp_path / "one.toml").write_text("[defaults]\nGlueCEPolicyPriority = 7\n" + table.format("a", 4))
    (tmp_path / "two.toml").write_text(table.format("a", 4) + table.format("b", 8))
    asked = "{other.GlueCEInfoTotalCPUs, other.GlueSiteName, other.GlueCEPolicyPriority}"
    assert crossdesk("jdl", "eval", asked, "--other", "one.toml", cwd=tmp_path).out == '{4, "a", 7}\n'
    refused = crossdesk("jdl", "eval", asked, "--other", "two.toml", cwd=tmp_path)
    assert (refused.code, refused.out) == (1, "")
    assert "--other 'two.toml#CE'" in refused.err
    assert "b:2119/jobmanager-pbs-q" in refused.err
    chosen = "two.toml#b:2119/jobmanager-pbs-q"
    assert crossdesk("jdl", "eval", "other.GlueCEInfoTotalCPUs", "--other", chosen, cwd=tmp_path).out == "8\n"
    assert "no resource 'c'" in crossdesk("jdl", "eval", "1", "--other", "two.toml#c", cwd=tmp_path).err


def test_blank_lines_and_comments_of_a_file_of_expressions_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("# sums\n\n1 + 1\n  // more\n/* yet more */\n2 + (\n")
    said = crossdesk("jdl", "eval", "--from", "asked.txt", cwd=tmp_path)
    assert said.out == "2\nerror\n"
    assert "asked.txt:6:" in said.err


def test_a_file_of_expressions_gives_one_result_for_each_line(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("1 + 1\n)\n[ a = 1 ]\n2.5\n")
    said = crossdesk("jdl", "eval", "--from", "asked.txt", cwd=tmp_path)
    assert (said.code, said.out) == (1, "2\nerror\n[ a = 1; ]\n2.5\n")
    assert "asked.txt:2:1: error[expected-value]" in said.err
    told = crossdesk("jdl", "eval", "--from", "-", "--json", text="1 + 1\ntime() > 1e9\n", cwd=tmp_path)
    assert [json.loads(line)["value"] for line in told.out.splitlines()] == [2, True]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("GlueCEInfoTotalCPUs = ")
    (tmp_path / "bad.jdl").write_text("A = 1;\nB = (2;\n")
    for option, name, place in (
        ("--other", "bad.toml", "bad.toml"),
        ("--self", "bad.jdl", "bad.jdl:2:7"),
        ("--self", "none.jdl", "none.jdl"),
    ):
        said = crossdesk("jdl", "eval", "1", option, name, cwd=tmp_path)
        assert said.code == 1
        assert place in said.err
        assert "Errno" not in said.err
    said = crossdesk("jdl", "eval", "--from", "nothing.txt", cwd=tmp_path)
    assert "no such file" in said.err
    assert "where: nothing.txt" in said.err
    assert "Check the name" in said.err


def test_either_an_expression_or_a_file_is_needed() -> None:
    assert crossdesk("jdl", "eval").code == 2
    assert crossdesk("jdl", "eval", "1", "--from", "x").code == 2
