"""The job commands, typed against a real broker."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.command_line.calling import command, crossdesk
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("broker")

HELLO = """
Executable = "/bin/sh"; Arguments = "-c 'echo out; echo err >&2; exit %d'";
StdOutput = "o.txt"; StdError = "e.txt"; OutputSandbox = {"o.txt", "e.txt"};
"""


@pytest.fixture
def jdl(tmp_path: Path) -> Path:
    path = tmp_path / "job.jdl"
    path.write_text(HELLO % 0)
    return path


def test_submit_prints_the_id_and_nothing_else(jdl: Path) -> None:
    said = crossdesk("job", "submit", str(jdl))
    assert said.code == 0
    assert len(said.out.split()) == 1
    assert len(said.out.strip()) == 22


def test_submit_in_json_has_the_id(jdl: Path) -> None:
    value = crossdesk("job", "submit", str(jdl), "--json").json
    assert value["ids"] == [value["id"]]


def test_follow_copies_both_streams(jdl: Path) -> None:
    said = crossdesk("job", "submit", "--follow", str(jdl))
    assert said.code == 0
    assert "out\n" in said.out
    assert "err\n" in said.err


def test_waiting_for_a_job_that_fails_ends_with_3(jdl: Path) -> None:
    jdl.write_text(HELLO % 7)
    said = crossdesk("job", "submit", "--wait", "--json", str(jdl))
    assert said.code == 3
    assert said.json["jobs"][0]["exit_code"] == 7


def test_a_wait_that_takes_too_long_ends_with_124_and_the_job_goes_on(jdl: Path) -> None:
    jdl.write_text('Executable = "/bin/sleep"; Arguments = "300";')
    said = crossdesk("job", "submit", "--wait", "--timeout", "0.5", str(jdl))
    assert said.code == 124
    assert crossdesk("job", "list", "--json").json["total"] == 1


def test_an_interrupted_wait_ends_with_130_and_the_job_goes_on(jdl: Path) -> None:
    jdl.write_text('Executable = "/bin/sleep"; Arguments = "300";')
    waiting = subprocess.Popen(
        command("job", "submit", "--wait", str(jdl)),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    assert waiting.stdout is not None
    job = waiting.stdout.readline().strip()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(60) == 130
    waiting.stdout.close()
    assert crossdesk("job", "status", job, "--json").json["jobs"][0]["state"] in (
        "Submitted",
        "Waiting",
        "Ready",
        "Scheduled",
        "Running",
    )


def test_a_refused_description_shows_line_and_caret(jdl: Path) -> None:
    jdl.write_text('Executable = "/bin/true";\nStdOutput = "*";\n')
    said = crossdesk("job", "submit", str(jdl))
    assert said.code == 1
    assert said.out == ""
    assert "job.jdl:2:" in said.err
    assert "^" in said.err


def test_a_refused_description_in_json_has_its_diagnostics(jdl: Path) -> None:
    jdl.write_text('StdOutput = "*";')
    said = crossdesk("job", "submit", "--json", str(jdl))
    assert said.code == 1
    assert said.json["error"]["code"] == "description_refused"
    assert said.json["error"]["diagnostics"]


def test_several_files_make_one_batch(jdl: Path) -> None:
    value = crossdesk("job", "submit", "--json", str(jdl), str(jdl), str(jdl)).json
    assert len(value["ids"]) == 3
    assert value["batch"]


def test_values_make_many_jobs(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jdl"
    path.write_text('Executable = "/bin/echo"; Arguments = "_PARAM_"; StdOutput = "o";')
    (tmp_path / "values").write_text("one\ntwo\n\n")
    words = ("--values", str(tmp_path / "values"), "--value", "zero", "--wait", "--json")
    value = crossdesk("job", "submit", str(path), *words).json
    assert [crossdesk("job", "log", job).out for job in value["ids"]] == ["zero\n", "one\n", "two\n"]


def test_values_may_be_written_as_in_the_window(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jdl"
    path.write_text('Executable = "/bin/echo"; Arguments = "_PARAM_"; StdOutput = "o";')
    value = crossdesk("job", "submit", str(path), "--values", "2-6:2, red", "--wait", "--json").json
    assert [crossdesk("job", "log", job).out for job in value["ids"]] == ["2\n", "4\n", "6\n", "red\n"]
    missing = crossdesk("job", "submit", str(path), "--values", str(tmp_path / "none.txt"))
    assert missing.code == 1
    assert "The values cannot be read" in missing.err
    many = crossdesk("job", "submit", str(path), "--values", "1-10001")
    assert (many.code, many.out) == (1, "")
    assert "at most 10,000" in many.err


def test_the_list_shows_active_jobs_and_says_how_many_are_hidden(jdl: Path) -> None:
    crossdesk("job", "submit", "--wait", str(jdl))
    held = crossdesk("job", "submit", "--hold", "look", str(jdl)).out.strip()
    said = crossdesk("job", "list")
    assert held in said.out
    assert "(held)" in said.out
    assert "1 other job; --all shows all." in said.err
    assert crossdesk("job", "list", "--all", "--json").json["total"] == 2


def test_many_jobs_of_one_submission_are_one_line_of_the_list(jdl: Path, tmp_path: Path) -> None:
    alone = crossdesk("job", "submit", "--hold", "look", str(jdl)).out.strip()
    sweep = tmp_path / "sweep.jdl"
    sweep.write_text(
        'Executable = "/bin/echo"; JobType = "Parametric"; Parameters = 130; Arguments = "_PARAM_";'
    )
    sent = crossdesk("job", "submit", "--hold", "look", str(sweep))
    ids = sent.out.split()
    assert len(ids) == 130
    shown = crossdesk("job", "list")
    lines = shown.out.splitlines()[1:]
    assert len(lines) == 2
    assert "130 jobs: 130 Waiting (130 held)" in lines[0]
    assert " Node " in lines[0]
    assert f"130 jobs submitted as batch {lines[0].split()[0]}." in sent.err
    assert alone in lines[1]
    assert "more" not in shown.err
    assert "--unfold shows each" in shown.err
    every = crossdesk("job", "list", "--unfold", "--limit", "0").out
    assert all(job in every for job in [alone, *ids])
    assert len(crossdesk("job", "list", "--json").json["jobs"]) == 100


def test_the_list_and_the_end_of_a_wait_say_what_failed(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jdl"
    path.write_text('Executable = "/bin/sh"; Arguments = "-c \'exit _PARAM_\'";')
    given = [word for code in (*"3333", *"00000000") for word in ("--value", code)]
    sent = crossdesk("job", "submit", "--wait", str(path), *given)
    assert sent.code == 3
    assert "12 jobs: 4 Failed, 8 Done." in sent.err
    assert "12 jobs: 4 Failed, 8 Done" in crossdesk("job", "list", "--all").out
    ids = sent.out.split()
    bad = crossdesk("job", "list", "--state", "Failed", "--json").json
    assert bad["total"] == 4
    assert {(row["outcome"], row["failure"]) for row in bad["jobs"]} == {("Failed", "exit 3")}
    assert crossdesk("job", "get-output", *ids[:5], cwd=tmp_path).code == 0
    totals = [
        crossdesk("job", "list", "--json", "--state", *states.split()).json["total"]
        for states in ("failed", "done", "cleared", "aborted --state done", "canceled")
    ]
    assert totals == [4, 8, 5, 8, 0]
    shown = crossdesk("job", "status", ids[0])
    assert "Failed, exit 3" in shown.out
    assert "4 Failed" in crossdesk("job", "status", "--wait", *ids).err
    said = crossdesk("broker", "status")
    assert "4 Failed, 8 Done" in said.out
    assert crossdesk("site", "list", "--json").json["sites"][0]["failed"] == 4


def test_an_id_may_be_shortened(jdl: Path) -> None:
    job = crossdesk("job", "submit", "--wait", str(jdl)).out.strip()
    assert crossdesk("job", "status", "--json", job[:10].lstrip("-") or job).json["jobs"][0]["id"] == job


def test_the_story_is_printed_with_reasons(jdl: Path) -> None:
    job = crossdesk("job", "submit", "--wait", str(jdl)).out.strip()
    said = crossdesk("job", "logging-info", job)
    assert said.code == 0
    assert all(word in said.out for word in ("submitted", "accepted", "running", "done"))


def test_output_is_fetched_into_a_new_folder(jdl: Path, tmp_path: Path) -> None:
    job = crossdesk("job", "submit", "--wait", str(jdl)).out.strip()
    said = crossdesk("job", "get-output", job, "--dir", "results", cwd=tmp_path)
    assert said.code == 0
    assert (tmp_path / said.out.strip() / "o.txt").read_text() == "out\n"
    assert crossdesk("job", "status", job, "--json").json["jobs"][0]["state"] == "Cleared"


def test_the_output_of_a_whole_batch_is_fetched_by_its_id(tmp_path: Path) -> None:
    path = tmp_path / "sweep.jdl"
    path.write_text('Executable = "/bin/echo"; Arguments = "_PARAM_";')
    batch = crossdesk("job", "submit", "--wait", str(path), "--values", "1-3", "--json").json["batch"]
    said = crossdesk("job", "get-output", batch, cwd=tmp_path)
    assert said.code == 0
    assert {(tmp_path / one / "std.out").read_text() for one in said.out.split()} == {"1\n", "2\n", "3\n"}


def test_canceled_jobs_are_named_and_a_second_cancel_says_why_not(jdl: Path) -> None:
    job = crossdesk("job", "submit", "--hold", "look", str(jdl)).out.strip()
    assert crossdesk("job", "cancel", job).out.strip() == job
    again = crossdesk("job", "cancel", job)
    assert again.code == 1
    assert "already" in again.err


def test_ids_come_by_standard_input(jdl: Path) -> None:
    ids = crossdesk("job", "submit", "--hold", "look", str(jdl), str(jdl)).out
    assert crossdesk("job", "cancel", "-", text=ids).code == 0
    assert crossdesk("job", "purge", "-", text=ids).code == 0
    assert crossdesk("job", "list", "--all", "--json").json["total"] == 0


def test_list_match_tells_where_and_why_not(jdl: Path) -> None:
    said = crossdesk("job", "list-match", str(jdl), "--json")
    assert any(one["matches"] for one in said.json["resources"])
    jdl.write_text('Executable = "/bin/true"; Requirements = other.GlueCEInfoTotalCPUs > 100000;')
    said = crossdesk("job", "list-match", str(jdl))
    assert said.code == 0
    assert "No resource matches now." in said.err


def test_the_sites_are_listed() -> None:
    assert [one["spec"]["kind"] for one in crossdesk("site", "list", "--json").json["sites"]] == ["local"]


def test_an_unknown_job_is_an_error_with_its_code() -> None:
    said = crossdesk("job", "status", "A" * 22, "--json")
    assert said.code == 1
    assert said.json["error"]["message"]


def test_an_id_that_begins_with_a_dash_is_no_option() -> None:
    said = crossdesk("job", "status", "-" + "A" * 21)
    assert said.code == 1
    assert "no such job" in said.err.lower()


def test_a_closed_pipe_is_no_crash(jdl: Path) -> None:
    crossdesk("job", "submit", "--hold", "look", str(jdl))
    words = " ".join(command("job", "list", "--all"))
    told = subprocess.run(
        ["sh", "-c", f"{words} | true"], capture_output=True, text=True, env=os.environ, check=False
    )
    assert "Traceback" not in told.stderr


def test_the_sweep_sample_runs_all_its_jobs() -> None:
    said = crossdesk("sample", "run", "sweep-200", "--wait", "--json")
    assert said.code == 0
    assert len(said.json["jobs"]) == 200


@pytest.mark.parametrize(("name", "code", "signal_"), [("fails", 7, None), ("killed", None, 9)])
def test_the_bad_samples_end_as_they_say(name: str, code: int | None, signal_: int | None) -> None:
    said = crossdesk("sample", "run", name, "--wait", "--json")
    assert said.code == 3
    row = said.json["jobs"][0]
    assert row["signal"] == signal_
    assert code is None or row["exit_code"] == code


def test_following_a_log_ends_with_the_job(jdl: Path) -> None:
    job = crossdesk("job", "submit", str(jdl)).out.strip()
    said = crossdesk("job", "log", "--follow", job)
    assert (said.code, said.out) == (0, "out\n")


def test_a_file_that_an_ended_job_did_not_leave_is_an_error(jdl: Path) -> None:
    job = crossdesk("job", "submit", str(jdl), "--wait").out.split()[0]
    said = crossdesk("job", "log", "--file", "nothing.dat", job)
    assert said.code == 1
    assert "left no file 'nothing.dat'" in said.err


def test_what_a_job_made_and_did_not_name_is_told_fetched_and_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "job.jdl"
    path.write_text(
        """Executable = "/bin/sh"; OutputSandbox = {"named"};
        Arguments = "-c 'echo 1 >named; echo 22 >other; printf 3 >\\"$(printf \\"x\\\\033[1my\\")\\"'";"""
    )
    job = crossdesk("job", "submit", str(path), "--wait").out.split()[0]
    told = crossdesk("job", "status", job)
    assert "2 files stayed on this machine: other (3 B), x\\x1b[1my (1 B)" in told.err + told.out
    said = crossdesk("job", "get-output", job, "--dir", str(tmp_path / "a"))
    assert "2 files stayed on" in said.err
    assert "\x1b[1my" not in said.err
    assert crossdesk("job", "stayed", job, "other", "--fetch").code == 0
    assert [one["size"] for one in crossdesk("job", "stayed", job, "--json").json["files"]] == [1]
    assert crossdesk("job", "stayed", job, "--forget").code == 0
    assert "Nothing stayed" in crossdesk("job", "stayed", job).err
    value = crossdesk("job", "get-output", job, "--dir", str(tmp_path / "b"), "--json").json["fetched"][0]
    assert {Path(one).name for one in value["files"]} == {"named", "other"}
    assert crossdesk("job", "stayed", job, "nothing", "--fetch").code == 1


def test_the_same_key_submits_once(jdl: Path) -> None:
    first, second = (crossdesk("job", "submit", "--key", "only-once", str(jdl)).out for _ in range(2))
    assert first == second
    assert wait_until(lambda: crossdesk("job", "list", "--all", "--json").json["total"]) == 1


def test_warnings_of_a_submission_say_file_line_and_fix(tmp_path: Path) -> None:
    path = tmp_path / "slip.jdl"
    path.write_text('Executable = "/bin/true";\nRetryCount = 3\nInputData = "lfn:/a";\n')
    said = crossdesk("job", "submit", str(path))
    assert said.code == 0
    assert f"{path}:2:14: warning[missing-semicolon]" in said.err
    assert f"{path}:3:13: hint[data-not-sent]" in said.err
    assert "= fix: Add ;" in said.err
    assert said.err.count("missing-semicolon") == 1
