"""A program that is chosen for a description becomes its executable, or the argument of its interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.description.program_call import program_call, with_field, with_program
from broker_core.client.programs.describe import how_it_runs, pinned
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of


def test_a_program_that_runs_by_itself_is_the_executable(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text("#!/usr/bin/env python3\n")
    text = with_program('Executable = "old"; Arguments = "-x";', tmp_path / "tool.py", tmp_path)
    assert 'Executable = "tool.py"; Arguments = "-x";' in text
    assert 'InputSandbox = {"tool.py"};' in text


def test_a_script_without_a_first_line_is_the_argument_of_its_interpreter(tmp_path: Path) -> None:
    (tmp_path / "my analysis.py").write_text("print(1)\n")
    text = with_program("", tmp_path / "my analysis.py", tmp_path)
    assert 'Executable = "python3";' in text
    assert "Arguments = \"'my analysis.py'\";" in text
    assert 'InputSandbox = {"my analysis.py"};' in text


def test_a_script_is_seen_by_its_name_and_the_users_arguments_stay_behind_it(tmp_path: Path) -> None:
    (tmp_path / "my analysis.py").write_text("print(1)\n")
    (tmp_path / "other.sh").write_text("#!/bin/sh\n")
    text = with_field(
        with_program("", tmp_path / "my analysis.py", tmp_path), "Arguments", '"-n 3"', tmp_path
    )
    assert "Arguments = \"'my analysis.py' -n 3\";" in text
    call = program_call(text, tmp_path)
    assert call is not None
    assert (call.name, call.arguments) == ("my analysis.py", "-n 3")
    assert call.item is not None
    assert how_it_runs(call.item) == "Python script without “#!”: will be run with python3."
    text = with_program(text, tmp_path / "other.sh", tmp_path)
    assert 'JobName = "other";\nExecutable = "other.sh";\nArguments = "-n 3";' in text
    assert 'InputSandbox = {"other.sh"};' in text


def test_another_program_in_the_place_of_a_script_takes_its_arguments_without_it(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print(1)\n")
    text = with_field(with_program("", tmp_path / "a.py", tmp_path), "Arguments", '"-n 3"', tmp_path)
    text = with_field(text, "Executable", '"/bin/echo"', tmp_path)
    assert 'Executable = "/bin/echo";\nArguments = "-n 3";' in text


@pytest.mark.parametrize(
    ("name", "head", "said"),
    [
        ("a.py", "x", "Python script without “#!”: will be run with python3."),
        ("a.r", "x", "R script without “#!”: will be run with Rscript."),
        ("a", "#!/usr/bin/env python3\n", "Python script: will be run with python3, as its first line says."),
        ("a.sh", "#!/bin/bash -e\n", "Bash script: will be run with bash, as its first line says."),
        ("a.bin", "\x7fELF", "Program: it is sent along and started."),
        ("a.csv", "1,2", "No script or program that is known: it is started as it is."),
        ("a.jdl", 'Executable = "x";', "Job description: it says itself what is run."),
        ("nothing", None, "It does not exist."),
    ],
)
def test_what_will_be_done_with_a_file_is_said(
    tmp_path: Path, name: str, head: str | None, said: str
) -> None:
    if head is not None:
        (tmp_path / name).write_text(head)
    assert how_it_runs(classify(facts_of(tmp_path / name))) == said


def test_a_site_joins_the_requirements_that_are_there() -> None:
    text = pinned('Executable = "/bin/true"; Requirements = other.X > 1;', "vm")
    assert text.endswith('Requirements = (other.X > 1) && other.GlueSiteName == "vm";')
    assert pinned("", "vm") == 'Requirements = other.GlueSiteName == "vm";\n'
