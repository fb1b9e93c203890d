"""What PSI/J promises of every executor, on a real broker; the cases are those of PSI/J's own suite."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psij
import pytest
from psij import InvalidJobException, JobState

LONG = timedelta(seconds=60)
Submit = Callable[..., psij.Job]


def test_psij_finds_it_by_its_name() -> None:
    assert "crossdesk" in psij.JobExecutor.get_executor_names()


def test_a_job_completes(submitted: Submit) -> None:
    job = submitted("/bin/date")
    status = job.wait(timeout=LONG)
    assert status is not None
    assert (status.state, status.exit_code) == (JobState.COMPLETED, 0)


def test_its_output_goes_to_the_file_that_it_names(submitted: Submit, tmp_path: Path) -> None:
    out, err = tmp_path / "out put.txt", tmp_path / "err.txt"
    job = submitted("/bin/sh", "-c", "echo 'a  b'; echo wrong >&2", stdout_path=out, stderr_path=err)
    assert job.wait(timeout=LONG).state == JobState.COMPLETED
    assert (out.read_text(), err.read_text()) == ("a  b\n", "wrong\n")


def test_input_directory_and_variables_reach_it(submitted: Submit, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("typed\n")
    fields = {
        "stdin_path": tmp_path / "in.txt",
        "directory": tmp_path,
        "environment": {"WORD": "it's $HOME", "N": 7},
    }
    job = submitted("/bin/sh", "-c", 'cat; pwd; echo "$WORD $N"', stdout_path="out.txt", **fields)
    assert job.wait(timeout=LONG).state == JobState.COMPLETED
    assert (tmp_path / "out.txt").read_text() == f"typed\n{tmp_path}\nit's $HOME 7\n"


def test_without_the_environment_it_has_its_own_variables_alone(submitted: Submit, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    fields = {"inherit_environment": False, "environment": {"ONLY": "this one"}, "stdout_path": out}
    job = submitted("/usr/bin/env", **fields)
    assert job.wait(timeout=LONG).state == JobState.COMPLETED
    names = {line.partition("=")[0] for line in out.read_text().splitlines()}
    assert names - {"PWD", "_", "SHLVL", "OLDPWD"} == {"ONLY"}


def test_a_failure_has_the_exit_code_of_the_program(submitted: Submit) -> None:
    status = submitted("/bin/sh", "-c", "exit 7").wait(timeout=LONG)
    assert (status.state, status.exit_code) == (JobState.FAILED, 7)


def test_a_program_that_is_missing_fails(submitted: Submit) -> None:
    status = submitted("/no/such/program").wait(timeout=LONG)
    assert (status.state, status.exit_code) == (JobState.FAILED, 127)


def test_a_running_job_is_canceled(submitted: Submit) -> None:
    job = submitted("/bin/sleep", "600")
    job.wait(timeout=LONG, target_states=[JobState.ACTIVE])
    job.cancel()
    assert job.wait(timeout=LONG).state == JobState.CANCELED
    job.cancel()


def test_a_job_past_its_duration_is_ended(submitted: Submit) -> None:
    brief = psij.JobAttributes(duration=timedelta(seconds=1))
    status = submitted("/bin/sleep", "600", attributes=brief).wait(timeout=LONG)
    assert status.state == JobState.FAILED
    assert "1 seconds" in (status.message or "")


def test_several_processes_each_have_their_rank(submitted: Submit, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    two = psij.ResourceSpecV1(process_count=2)
    job = submitted("/bin/sh", "-c", 'echo "$PSIJ_RANK"', stdout_path=out, resources=two, launcher="multiple")
    assert job.wait(timeout=LONG).state == JobState.COMPLETED
    assert sorted(out.read_text().split()) == ["0", "1"]


def test_one_failure_among_several_processes_fails_the_job(submitted: Submit) -> None:
    two = psij.ResourceSpecV1(process_count=2)
    status = submitted("/bin/sh", "-c", 'exit "$PSIJ_RANK"', resources=two).wait(timeout=LONG)
    assert (status.state, status.exit_code) == (JobState.FAILED, 1)


def test_scripts_before_and_after_share_its_shell(submitted: Submit, tmp_path: Path) -> None:
    (tmp_path / "before.sh").write_text("export MADE=before\n")
    (tmp_path / "after.sh").write_text(f'echo "after $MADE" >>{tmp_path}/out.txt\n')
    scripts = {"pre_launch": tmp_path / "before.sh", "post_launch": tmp_path / "after.sh"}
    job = submitted("/bin/sh", "-c", 'echo "$MADE"', stdout_path=tmp_path / "out.txt", **scripts)
    assert job.wait(timeout=LONG).state == JobState.COMPLETED
    assert (tmp_path / "out.txt").read_text() == "before\nafter before\n"


def test_every_state_is_called_back_in_order(executor: psij.JobExecutor) -> None:
    seen: list[JobState] = []
    over = threading.Event()

    def changed(_job: psij.Job, status: psij.JobStatus) -> None:
        seen.append(status.state)
        if status.final:
            over.set()

    job = psij.Job(psij.JobSpec(executable="/bin/true"))
    job.set_job_status_callback(changed)
    executor.submit(job)
    assert over.wait(60)
    assert seen == [JobState.QUEUED, JobState.ACTIVE, JobState.COMPLETED]


def test_another_executor_attaches_to_a_job_and_hears_its_exit_code(
    executor: psij.JobExecutor, submitted: Submit, tmp_path: Path
) -> None:
    wait_for_file = f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; exit 3"
    first = submitted("/bin/sh", "-c", wait_for_file)
    other = psij.JobExecutor.get_instance("crossdesk")
    try:
        assert first.native_id in other.list()
        second = psij.Job()
        other.attach(second, first.native_id)
        (tmp_path / "go").touch()
        status = second.wait(timeout=LONG)
        assert (status.state, status.exit_code) == (JobState.FAILED, 3)
    finally:
        other.close()


def test_many_jobs_at_once_all_complete(submitted: Submit) -> None:
    jobs = [submitted() for _ in range(20)]
    assert {job.wait(timeout=LONG).state for job in jobs} == {JobState.COMPLETED}


@pytest.mark.parametrize(
    "fields",
    [
        {"launcher": "no-such-launcher"},
        {"environment": {"not a name": "1"}},
        {"attributes": psij.JobAttributes(custom_attributes={"crossdesk.Requirements": "((("})},
    ],
)
def test_what_cannot_be_is_refused_and_the_job_stays_new(executor: psij.JobExecutor, fields: dict) -> None:
    job = psij.Job(psij.JobSpec(executable="/bin/true", **fields))
    with pytest.raises(InvalidJobException):
        executor.submit(job)
    assert job.status.state == JobState.NEW


def test_a_job_without_a_program_is_refused(executor: psij.JobExecutor) -> None:
    with pytest.raises(InvalidJobException, match="no executable"):
        executor.submit(psij.Job(psij.JobSpec()))


def test_a_hostile_name_and_arguments_stay_text(submitted: Submit, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    hostile = ["$(touch /tmp/x)", '"; exit 9; "', "a'b", "line\nbreak"]
    job = submitted("/usr/bin/printf", "%s|", *hostile, stdout_path=out, name='x"; Executable = "/bin/false')
    assert job.wait(timeout=LONG).state == JobState.COMPLETED
    assert out.read_text() == "".join(f"{word}|" for word in hostile)
