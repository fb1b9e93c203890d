"""`crossdesk job wait`: until all or one have ended; failures are told with their values and a total."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.interactive.keyboard import Keyboard
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("broker")


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.jdl"
    path.write_text("""JobName = "scan"; Executable = "/bin/sh"; Arguments = "-c 'exit _PARAM_'";""")
    return path


def _submit(path: Path, *values: str) -> tuple[list[str], str]:
    """Ids and batch."""
    given = [word for value in values for word in ("--value", value)]
    value = crossdesk("job", "submit", "--json", str(path), *given).json
    return value["ids"], value["batch"]


def test_a_batch_is_waited_for_and_its_failures_are_told_with_values_and_total(sweep: Path) -> None:
    ids, batch = _submit(sweep, *"0000000000", "3", "3", "4")
    said = crossdesk("job", "wait", batch)
    assert (said.code, said.out) == (3, "")
    assert "exit 3 (2): scan (3), scan (3)\nexit 4 (1): scan (4)\n13 jobs: 3 Failed, 10 Done." in said.err
    rows = crossdesk("job", "wait", "--json", *ids[:2]).json["jobs"]
    assert [(row["id"], row["outcome"]) for row in rows] == [(job, "Done") for job in ids[:2]]
    assert crossdesk("job", "wait", ids[0]).code == 0


def test_any_ends_with_the_first_job_and_prints_its_id(tmp_path: Path, sweep: Path) -> None:
    long = tmp_path / "long.jdl"
    long.write_text('Executable = "/bin/sleep"; Arguments = "300";')
    ids = [crossdesk("job", "submit", str(long)).out.strip()]
    (short,), _ = _submit(sweep, "3")
    said = crossdesk("job", "wait", "--any", *ids, short)
    assert (said.code, said.out.split()) == (3, [short])
    late = crossdesk("job", "wait", *ids, short, "--timeout", "0.2")
    assert late.code == 124
    assert "The jobs go on" in late.err
    assert crossdesk("job", "wait", "nonsense").code == 1


def test_a_terminal_is_told_one_line_for_many_jobs_and_a_pipe_all_ids(sweep: Path) -> None:
    values = [word for value in "000000000000" for word in ("--value", value)]
    keyboard = Keyboard("job", "submit", "--hold", "look", str(sweep), *values)
    try:
        wait_until(keyboard.shows(b"scan: 12 jobs, batch "))
        keyboard.process.wait(60)
        keyboard.shows(b"")()
        assert len(re.findall(rb"(?<![\w-])[\w-]{22}(?![\w-])", keyboard.seen)) == 1
    finally:
        keyboard.close()
    assert len(crossdesk("job", "submit", "--hold", "look", str(sweep), *values).out.split()) == 12
