"""A program that is chosen for a description becomes its executable, or the argument of its interpreter."""

from __future__ import annotations

from pathlib import Path

from app.description.document import with_program


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
