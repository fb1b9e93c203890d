"""`crossdesk job resubmit`, typed against a real broker."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.command_line.calling import Said, command, crossdesk

pytestmark = pytest.mark.usefixtures("broker")
BAD = 3
"""Every so many members fail at first."""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """While this file is not there, some members of the batch fail."""
    return tmp_path / "gate"


def _batch(tmp_path: Path, gate: Path, members: int) -> Said:
    script = tmp_path / "member.sh"
    script.write_text(
        f'#!/bin/sh\n[ -e {gate} ] || [ $(($1 % {BAD})) != 0 ] || {{ echo "no gate" >&2; exit 4; }}\n'
    )
    script.chmod(0o755)
    jdl = tmp_path / "batch.jdl"
    jdl.write_text('Executable = "member.sh"; InputSandbox = {"member.sh"}; Arguments = "_PARAM_";')
    values = [word for number in range(1, members + 1) for word in ("--value", str(number))]
    return crossdesk("job", "submit", "--wait", str(jdl), *values)


def _batch_id() -> str:
    return str(crossdesk("job", "list", "--all", "--json").json["jobs"][0]["batch"])


def test_a_batch_of_forty_with_reruns_stays_forty(tmp_path: Path, gate: Path) -> None:
    said = _batch(tmp_path, gate, 40)
    assert "40 jobs: 13 Failed, 27 Done" in said.err
    batch = _batch_id()
    gate.touch()
    again = crossdesk("job", "resubmit", batch, "--failed", "--wait")
    assert again.code == 0, again.err
    assert len(again.out.split()) == 13
    assert f"13 jobs run again in batch {batch}." in again.err
    assert "13 jobs: 13 Done" in again.err
    assert f"Batch {batch}: 40 jobs: 40 Done" in again.err
    shown = crossdesk("job", "list", "--all", COLUMNS="140").out
    assert "40 jobs: 40 Done" in shown
    assert "Failed" not in shown
    assert "40 jobs: 40 Done" in crossdesk("job", "status", batch, "--wait").err
    every = crossdesk("job", "list", "--all", "--json").json
    assert len([row for row in every["jobs"] if row["rerun_of"]]) == 13
    nothing = crossdesk("job", "resubmit", batch, "--failed")
    assert (nothing.code, nothing.out) == (0, "")
    assert "None of them failed" in nothing.err


def test_a_job_is_run_again_with_changes_and_tells_which_one_it_repeats(tmp_path: Path) -> None:
    jdl = tmp_path / "job.jdl"
    jdl.write_text('Executable = "/bin/sh"; Arguments = "-c \'echo no data >&2; exit 7\'";')
    job = crossdesk("job", "submit", "--wait", str(jdl)).out.strip()
    assert "no data" in crossdesk("job", "status", job).out
    refused = crossdesk("job", "resubmit", job, "--set", "WallTime=soon")
    assert refused.code == 1
    assert "WallTime" in refused.err
    changes = ("--set", "Arguments=-c 'exit 0'", "--set", "WallTime=90m")
    said = crossdesk("job", "resubmit", job, *changes, "--wait", "--json", "--site", "local")
    assert said.code == 0, said.out
    (row,) = said.json["jobs"]
    assert (row["rerun_of"], row["exit_code"], row["pinned"]) == (job, 0, "local")
    assert job in crossdesk("job", "status", row["id"]).out
    again = crossdesk("job", "resubmit", job)
    assert again.code == 1
    assert row["id"] in again.err


def test_a_site_of_before_is_left_by_choice(tmp_path: Path) -> None:
    jdl = tmp_path / "job.jdl"
    jdl.write_text('Executable = "/bin/true";')
    job = crossdesk("job", "submit", "--wait", "--site", "local", str(jdl)).out.strip()
    said = crossdesk("job", "resubmit", job, "--anywhere", "--set", "Memory=1M", "--wait", "--json")
    assert said.code == 0, said.out
    assert said.json["jobs"][0]["pinned"] == ""
    both = crossdesk("job", "resubmit", job, "--anywhere", "--site", "local")
    assert (both.code, "exclude each other" in both.err) == (1, True)


def test_a_refused_interactive_job_says_how_it_is_queued_as_a_batch_job(tmp_path: Path) -> None:
    jdl = tmp_path / "talk.jdl"
    here = "other.GlueCEStateFreeCPUs > 100000 || !isUndefined(self.Marked)"
    jdl.write_text(f'Executable = "/bin/echo"; JobType = "Interactive"; Requirements = {here};')
    said = crossdesk("job", "submit", "--wait", str(jdl))
    job = said.out.split()[0]
    wanted = f"crossdesk job resubmit {job} --as-batch"
    assert wanted in said.err.replace("\n", " ")
    assert wanted in crossdesk("job", "status", job, COLUMNS="300").out
    again = crossdesk("job", "resubmit", job, "--as-batch", "--set", "Requirements=true", "--wait", "--json")
    (row,) = again.json["jobs"]
    assert (row["interactive"], row["state"], row["rerun_of"]) == (False, "Done", job)


def test_what_sets_nothing_and_unknown_jobs_are_refused() -> None:
    said = crossdesk("job", "resubmit", "A" * 22, "--set", "WallTime")
    assert said.code == 1
    assert "sets nothing" in said.err
    unknown = crossdesk("job", "resubmit", "A" * 22)
    assert unknown.code == 1
    assert "no such job" in unknown.err


def test_above_ten_jobs_a_terminal_is_asked(tmp_path: Path, gate: Path) -> None:
    gate.touch()
    _batch(tmp_path, gate, 11)
    batch = _batch_id()
    assert _typed("n\n", "job", "resubmit", batch) == 130
    assert crossdesk("job", "list", "--all", "--json").json["total"] == 11
    assert _typed("y\n", "job", "resubmit", batch) == 0
    assert crossdesk("job", "list", "--all", "--json").json["total"] == 22


def _typed(answer: str, *words: str) -> int:
    """Exit code of a call with a terminal at which `answer` is typed."""
    ours, theirs = pty.openpty()
    try:
        called = subprocess.Popen(
            command(*words), stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.write(ours, answer.encode())
        return called.wait(60)
    finally:
        os.close(ours)
        os.close(theirs)
