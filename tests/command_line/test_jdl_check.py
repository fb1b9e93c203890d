from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk


def test_a_good_description_is_in_order(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('Executable = "/bin/true";')
    said = crossdesk("jdl", "check", "job.jdl", cwd=tmp_path)
    assert said.code == 0
    assert "no problems" in said.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Executable = "/bin/true";', "Normal job, 1 CPU."),
        ('JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 4; Executable = "/bin/true";', "4 CPUs."),
        ('JobType = "Parametric"; Parameters = 300; Executable = "/bin/true";', "300 jobs of 1 CPU each."),
        (
            'Type = "Collection"; Nodes = {[Executable = "/bin/a"], [CpuNumber = 4; Executable = "/bin/b"]};',
            "2 jobs of 1 to 4 CPUs each.",
        ),
    ],
)
def test_jobs_and_their_cpus_are_counted(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "job.jdl").write_text(text)
    said = crossdesk("jdl", "check", "job.jdl", cwd=tmp_path)
    assert said.code == 0
    assert words in said.err


def test_all_errors_are_told_at_once_with_line_caret_and_fix(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('Executabel = "/bin/true";\nStdOutput = "*.out";\n')
    said = crossdesk("jdl", "check", "job.jdl", cwd=tmp_path)
    assert said.code == 1
    assert "job.jdl:2:" in said.out
    assert '  2 | StdOutput = "*.out";' in said.out
    assert "^~~~" in said.out
    assert "= fix: " in said.out


def test_the_json_form_has_every_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('StdOutput = "*.out";')
    said = crossdesk("jdl", "check", "job.jdl", "--json", cwd=tmp_path)
    assert said.code == 1
    assert said.json["ok"] is False
    assert said.json["file"] == "job.jdl"
    assert {one["severity"] for one in said.json["diagnostics"]} >= {"error"}
    assert all(one["code"] and one["message"] for one in said.json["diagnostics"])


def test_a_description_can_come_by_standard_input() -> None:
    said = crossdesk("jdl", "check", "-", "--json", text='Executable = "/bin/true";')
    assert (said.code, said.json["ok"]) == (0, True)


def test_hostile_text_cannot_move_the_cursor(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text('Executable = "\x1b[2J";\n\x1b]0;title\x07')
    said = crossdesk("jdl", "check", "job.jdl", cwd=tmp_path)
    assert said.code == 1
    assert "\x1b" not in said.out + said.err


def test_no_colour_is_used_where_no_terminal_shows_it(tmp_path: Path) -> None:
    (tmp_path / "job.jdl").write_text("Executable = ")
    said = crossdesk("jdl", "check", "job.jdl", cwd=tmp_path)
    assert "\x1b[" not in said.out + said.err
