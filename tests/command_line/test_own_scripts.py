"""Scripts as their users have them are submitted as they are: without a first line, with spaces in names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.running import RunningBroker

PROGRAM = "import sys\nprint(sys.argv[1:], open('run 1.csv').read())\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "my analysis.py"
    path.write_text(PROGRAM)
    (tmp_path / "run 1.csv").write_text("a,b")
    return path


def test_a_script_runs_with_its_interpreter_its_arguments_and_its_files(
    running_broker: RunningBroker, script: Path
) -> None:
    data = script.with_name("run 1.csv")
    done = crossdesk("job", "submit", str(script), "-a", "one 'two three'", "--with", str(data), "--wait")
    assert done.code == 0, done.err
    assert "hint" not in done.err
    assert "Python script without “#!”: will be run with python3." in done.err
    job = done.out.strip()
    assert crossdesk("job", "log", job).out == "['one', 'two three'] a,b\n"


def test_what_cannot_be_run_is_refused_with_what_to_do(running_broker: RunningBroker, script: Path) -> None:
    refused = crossdesk("job", "submit", str(script.with_name("run 1.csv")))
    assert refused.code == 1
    assert "run 1.csv is no description, script or program." in refused.err
    assert "--with" in refused.err


def test_a_description_has_arguments_of_its_own(running_broker: RunningBroker, script: Path) -> None:
    description = script.with_name("job.jdl")
    description.write_text('Executable = "/bin/true";')
    assert crossdesk("job", "submit", str(description), "-a", "x").code == 1
    assert crossdesk("job", "submit", str(description)).code == 0


def test_a_description_that_starts_a_script_without_a_first_line_is_warned_with_a_fix(script: Path) -> None:
    description = script.with_name("job.jdl")
    description.write_text(
        'Executable = "my analysis.py"; Arguments = "x";\nInputSandbox = "my analysis.py";'
    )
    checked = crossdesk("jdl", "check", str(description))
    assert "warning[no-interpreter-line]" in checked.out + checked.err
    assert "fix: Run with python3" in checked.out + checked.err
