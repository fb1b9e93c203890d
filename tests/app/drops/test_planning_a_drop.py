"""What a drop will do, and what the overlay says of it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from app.description.statements import statements
from app.description.values import string_of, strings_of
from app.drops.plan import DropAction, DropPlan, plan_for, plan_for_text, sentence
from broker_core.client.programs.describe import script_from_text
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.jdl.check import check
from broker_core.jdl.parametric import values_in_line


def _plan(*paths: Path, on_editor: bool = False) -> DropPlan:
    return plan_for([classify(facts_of(path)) for path in paths], on_editor)


def _script(folder: Path, name: str, mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\necho\n")
    path.chmod(mode)
    return path


def _data(folder: Path, name: str, size: int = 10) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    return path


def _value(text: str, attribute: str) -> str:
    return statements(text)[attribute.lower()].value


def test_a_script_is_wrapped_and_sent_with_the_data_dropped_beside_it(tmp_path: Path) -> None:
    script, data = _script(tmp_path, "run me.sh"), _data(tmp_path, "in.csv", 1_258_000)
    plan = _plan(script, data)
    assert plan.action is DropAction.CONFIRM
    assert sentence(plan) == ("Drop to run with 1 CPU", "2 files, 1.2 MiB will be sent")
    text = plan.jobs[0].text
    assert string_of(_value(text, "Executable")) == "run me.sh"
    assert strings_of(_value(text, "InputSandbox")) == [str(script), str(data)]
    assert check(text).description is not None


@pytest.mark.parametrize("name", ["two words.py", 'quo"te.py', "back\\slash.py", "ünï.py", "$(x).py"])
def test_a_script_that_cannot_run_by_itself_goes_through_its_interpreter(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("print(1)\n")
    text = _plan(path).jobs[0].text
    description = check(text).description
    assert description is not None
    assert description.executable == "python3"
    assert shlex.split(description.arguments) == [f"./{name}" if name.startswith("-") else name]
    assert description.input_sandbox == (str(path),)


def test_several_programs_make_a_batch_and_each_gets_the_data(tmp_path: Path) -> None:
    plan = _plan(_script(tmp_path, "a.sh"), _script(tmp_path, "b.sh"), _data(tmp_path, "in.dat"))
    assert sentence(plan)[0] == "Drop to make a batch of 2 jobs"
    assert [len(strings_of(_value(job.text, "InputSandbox")) or []) for job in plan.jobs] == [2, 2]


def test_a_description_keeps_its_own_files_and_says_that_others_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jdl"
    path.write_text('Executable = "a";')
    plan = _plan(path, _data(tmp_path, "in.dat"))
    assert [job.path for job in plan.jobs] == [path]
    assert "left out" in plan.warnings[0]


def test_data_on_an_editor_join_it_and_elsewhere_begin_a_description(tmp_path: Path) -> None:
    data = _data(tmp_path, "in.dat")
    assert _plan(data, on_editor=True).action is DropAction.JOIN
    assert sentence(_plan(data, on_editor=True))[1] == "1 file, 10 B will join its input sandbox"
    begun = _plan(data)
    assert begun.action is DropAction.EDIT
    assert strings_of(_value(begun.text, "InputSandbox")) == [str(data)]


def test_a_folder_alone_is_listed_and_folders_among_files_are_refused(tmp_path: Path) -> None:
    assert _plan(tmp_path).action is DropAction.CHOOSE
    refused = _plan(tmp_path, _data(tmp_path, "x"))
    assert refused.action is DropAction.REFUSE
    assert "one folder" in refused.why


def test_what_cannot_be_used_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    plan = _plan(_script(tmp_path, "a.sh"), tmp_path / "gone\n.sh")
    assert plan.action is DropAction.CONFIRM
    assert plan.warnings == ("gone\\n.sh does not exist.",)
    assert _plan(tmp_path / "gone").why == "gone does not exist."


def test_dropped_text_is_a_description_or_a_script() -> None:
    assert plan_for_text('Executable = "a";').action is DropAction.CONFIRM
    assert plan_for_text("echo hello").text == "#!/bin/sh\necho hello\n"
    assert plan_for_text(" \n").action is DropAction.REFUSE
    assert plan_for_text("a\0b").action is DropAction.REFUSE
    assert script_from_text("#!/usr/bin/python3\r\nprint()") == "#!/usr/bin/python3\nprint()\n"


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("1-4", ["1", "2", "3", "4"]),
        ("0..10:5", ["0", "5", "10"]),
        ("3-1", ["3", "2", "1"]),
        ("red, green ,", ["red", "green"]),
        ("-2--1, x", ["-2", "-1", "x"]),
        ("", []),
    ],
)
def test_values_of_a_sweep_are_read_from_one_line(line: str, values: list[str]) -> None:
    assert values_in_line(line) == values


def test_too_many_values_are_refused_before_they_are_made() -> None:
    with pytest.raises(ValueError, match="at most 10,000"):
        values_in_line("1-999999999")
