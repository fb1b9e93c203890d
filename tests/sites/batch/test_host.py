"""The queue of a host without a batch system: its order, and what is left when its processes are killed."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.system import BatchJob
from tests.sites.batch.beds import Bed, gone
from tests.waiting import wait_until


def _lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def _waits(bed: Bed, name: str) -> Path:
    """A script that writes its name to `ran` and its process to `pid`, and ends when `go` is there."""
    body = f"echo $$ >{bed.folder}/{name}.new; mv {bed.folder}/{name}.new {bed.folder}/{name}.pid\n"
    body += f"echo {name} >>{bed.folder}/ran\nuntil [ -e {bed.folder}/go ]; do sleep 0.1; done"
    return bed.script(name, body)


def _runs(bed: Bed, name: str, **more: object) -> tuple[str, int]:
    """A job that runs: its id and its process."""
    id = bed.submit(f"m1.{name}.1", _waits(bed, name), **more)
    bed.release(id)
    pid = wait_until(lambda: _lines(bed.folder / f"{name}.pid"), what=f"{name} runs")
    return id, int(pid[0])


def _leader(pid: int) -> int:
    return os.getsid(pid)


def _alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_jobs_start_in_order_and_a_large_one_holds_back_those_behind_it(host: Bed) -> None:
    _runs(host, "a", cpus=2)
    large = host.submit("m1.b.1", _waits(host, "b"), cpus=4)
    small = host.submit("m1.c.1", _waits(host, "c"))
    host.release(small, large)
    seen = {id: job.seen for id, job in host.listed("m1").items()}
    assert (seen[large], seen[small]) == (AttemptStatus.QUEUED, AttemptStatus.QUEUED)
    (host.folder / "go").touch()
    gone(host, "m1", small)
    assert _lines(host.folder / "ran") == ["a", "b", "c"]


def test_a_waiting_job_starts_when_another_ends_though_nobody_asks(host: Bed) -> None:
    _runs(host, "a", cpus=4)
    host.release(host.submit("m1.b.1", _waits(host, "b")))
    (host.folder / "go").touch()
    wait_until(lambda: _lines(host.folder / "ran") == ["a", "b"], what="b has run")


def test_a_job_whose_leader_is_killed_runs_on_and_keeps_its_processors(host: Bed) -> None:
    id, pid = _runs(host, "a", cpus=4)
    os.kill(_leader(pid), signal.SIGKILL)
    behind = host.submit("m1.b.1", _waits(host, "b"))
    host.release(behind)
    assert host.listed("m1")[id].seen is AttemptStatus.RUNNING
    assert host.listed("m1")[behind].seen is AttemptStatus.QUEUED
    (host.folder / "go").touch()
    gone(host, "m1", id)
    gone(host, "m1", behind)
    assert _lines(host.folder / "ran") == ["a", "b"]


def test_a_job_all_of_whose_processes_are_killed_is_gone_and_the_next_one_starts(host: Bed) -> None:
    id, pid = _runs(host, "a", cpus=4)
    behind = host.submit("m1.b.1", _waits(host, "b"))
    host.release(behind)
    os.killpg(_leader(pid), signal.SIGKILL)
    gone(host, "m1", id)
    wait_until(lambda: host.listed("m1")[behind].seen is AttemptStatus.RUNNING, what="the next one runs")


@pytest.mark.parametrize(
    "escape",
    [
        "setsid sh -c 'trap \"\" TERM HUP; echo $$ >{pid}; while :; do sleep 0.2; done' &",
        "env -i PATH=$PATH sh -c 'trap \"\" TERM; echo $$ >{pid}; while :; do sleep 0.2; done' &",
    ],
    ids=["a session of its own", "an empty environment"],
)
def test_a_cancel_ends_processes_that_left_the_session_or_the_environment(host: Bed, escape: str) -> None:
    child = host.folder / "child"
    script = host.script("a", escape.format(pid=child) + "\ntrap '' TERM\nwait")
    id = host.submit("m1.a.1", script)
    host.release(id)
    pid = int(wait_until(lambda: _lines(child), what="it runs")[0])
    host.cancel(id)
    gone(host, "m1", id)
    assert not _alive(pid)


def test_what_a_job_leaves_behind_ends_with_it(host: Bed) -> None:
    child = host.folder / "child"
    id = host.submit("m1.a.1", host.script("a", f"setsid sleep 300 &\necho $! >{child}"))
    host.release(id)
    gone(host, "m1", id)
    wait_until(lambda: not _alive(int(_lines(child)[0])), what="it is gone")


def test_a_cancel_whose_own_process_is_killed_is_finished_by_the_next_look(host: Bed) -> None:
    id, pid = _runs(host, "a")
    text = host.system.cancel([id])
    # As if the process that ends the job had been killed as soon as it was to begin.
    programs = host.folder / "programs"
    programs.mkdir()
    (programs / "setsid").write_text("#!/bin/sh\nkill -9 $$\n")
    (programs / "setsid").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    subprocess.run(["/bin/sh"], input=text, env=os.environ | {"PATH": path}, text=True, check=True)
    assert _alive(pid)
    gone(host, "m1", id)
    assert not _alive(pid)


def test_each_job_runs_once_however_often_its_release_is_killed(host: Bed, soak: bool) -> None:
    rounds = 40 if soak else 8
    for number in range(rounds):
        script = host.script(f"s{number}", f"echo {number} >>{host.folder}/ran")
        id = host.submit(f"m1.s{number}.1", script)
        for text in (host.system.release([id]), host.system.status("m1")):
            environment = os.environ | host.environment
            shell = subprocess.Popen(
                ["/bin/sh"], stdin=subprocess.PIPE, env=environment, start_new_session=True, stdout=-3
            )
            assert shell.stdin is not None
            shell.stdin.write(text.encode())
            shell.stdin.close()
            try:
                shell.wait(0.004 * (number % 8))
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        host.release(id)
        gone(host, "m1", id)
    assert sorted(map(int, _lines(host.folder / "ran"))) == list(range(rounds))


def test_jobs_handed_over_at_the_same_time_get_numbers_of_their_own(host: Bed) -> None:
    script = host.script("a", "true")
    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(lambda number: host.submit(f"m1.j{number}.1", script), range(12)))
    assert len(set(ids)) == 12
    assert set(host.listed("m1")) == set(ids)


def test_more_processors_than_the_host_has_are_refused_with_both_numbers(host: Bed) -> None:
    done = host.ask(host.system.submit(BatchJob("m1.a.1", "/tmp/a", 5, host.queue)))
    assert done.returncode != 0
    assert "has 4 processors, the job needs 5" in done.stderr


def test_the_words_of_the_settings_come_before_the_command_and_the_environment_is_that_of_its_submission(
    host: Bed,
) -> None:
    host.environment = host.environment | {"COLOUR": "it's `red`\n$HOME"}
    id = host.submit("m1.a.1", host.script("a", 'nice; printf "%s" "$COLOUR"'), options=("nice", "-n", "7"))
    host.environment = {**host.environment, "COLOUR": "blue"}
    host.release(id)
    gone(host, "m1", id)
    nice, _, color = (host.folder / "log").read_text().partition("\n")
    assert int(nice) == min(19, os.nice(0) + 7)
    assert color == "it's `red`\n$HOME"


def test_two_marks_share_the_processors_and_see_their_own_jobs_only(host: Bed) -> None:
    _runs(host, "a", cpus=4)
    other = host.submit("m2.b.1", _waits(host, "b"))
    host.release(other)
    assert set(host.listed("m2")) == {other}
    assert host.listed("m2")[other].seen is AttemptStatus.QUEUED
