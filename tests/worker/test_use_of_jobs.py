"""What starters note of the use of a job, and what they say of one that ran out of memory or time."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.jobs.use import FILE, samples_of
from broker_core.sites.remote.stage_out import read_outputs
from broker_core.sites.starting import StarterSettings, starter_variables
from broker_core.worker.markers import read_ended
from broker_core.worker.script import starter_path, use_path
from tests.crash.control_group import control_group
from tests.waiting import wait_until
from tests.worker.starting import SHELLS, plain_order, run

_GROUPS = ("memory", "cpuacct")
_EATER = """
import time
kept = bytearray(30_000_000)
time.sleep({seconds})
more = bytearray({bytes})
more[:] = b"x" * len(more)
"""


@pytest.fixture(params=SHELLS, ids=lambda words: Path(words[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


@pytest.fixture
def group() -> Iterator[list[Path]]:
    """Control groups called as Slurm calls those of a job, with room for 60 MB."""
    name = f"slurm_{os.getpid()}_{time.monotonic_ns()}"
    made = [Path("/sys/fs/cgroup") / one / name / "job_1" for one in _GROUPS]
    for one in made:
        one.mkdir(parents=True)
    (made[0] / "memory.limit_in_bytes").write_text(str(60 << 20))
    yield made
    for one in made:
        with contextlib.suppress(FileNotFoundError):
            one.rmdir()
            one.parent.rmdir()


def in_group(group: list[Path], shell: list[str], directory: Path, script: str) -> int:
    """One run of the starter, which looks each second, within a control group."""
    directory.mkdir()
    at = StarterSettings(str(directory), beat=1, use_path=str(use_path()))
    given = starter_variables(plain_order(sys.executable, "-c", script), at)
    enter = "".join(f"echo $$ >{one}/cgroup.procs; " for one in group)
    words = ["/bin/sh", "-c", f'{enter}exec "$@"', "sh", *shell, str(starter_path())]
    return subprocess.run(
        words, env=given | {"PATH": os.environ["PATH"]}, check=False, timeout=120
    ).returncode


@pytest.mark.control_group
def test_a_job_that_the_kernel_ended_for_its_memory_says_so(
    shell: list[str], group: list[Path], tmp_path: Path
) -> None:
    assert in_group(group, shell, tmp_path / "d", _EATER.format(seconds=0, bytes=200_000_000)) == 230
    mark = read_ended(tmp_path / "d")
    assert mark is not None
    assert (mark.failure, mark.signal) == ("out-of-memory", 9)
    assert mark.reason == (
        "It ran out of memory: the node's kernel ended a process of it at the limit of 60 MB."
    )


@pytest.mark.control_group
@pytest.mark.parametrize("lacking", [True, False])
def test_a_child_that_the_kernel_ended_where_no_group_is_the_jobs_own_says_so(
    shell: list[str], tmp_path: Path, lacking: bool
) -> None:
    """As at a host without a batch system: the script ends as a shell does whose child was killed."""
    looked = f"while not os.path.exists('{FILE}'): time.sleep(0.05)"
    child = f"import os, time\n{looked}\nb'x' * 200_000_000\nos.kill(os.getpid(), 9)"
    here = tmp_path / "d"
    before = after = -1
    while before < 0 or (not lacking and before != after):  # else another test had one ended meanwhile
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir()
        before = _kills_of_the_node()
        code = _run_with_memory(shell, here, child, 60 << 20 if lacking else 2 << 30)
        after = _kills_of_the_node()
    mark = read_ended(here)
    assert mark is not None
    said = "It ran out of memory: meanwhile the node's kernel ended processes for want of it."
    wanted = (230, "out-of-memory", said) if lacking else (199, "", "")
    assert (code, mark.failure, mark.reason) == wanted
    assert not (here / "kernel").exists()


def _kills_of_the_node() -> int:
    """How many processes its kernel has ended for want of memory."""
    known = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(known["oom_kill"])


def _run_with_memory(shell: list[str], directory: Path, child: str, most: int) -> int:
    """One run of the starter, all of which has so many bytes."""
    at = StarterSettings(str(directory), beat=1, use_path=str(use_path()))
    given = starter_variables(plain_order("sh", "-c", f'{sys.executable} -c "{child}"; exit $?'), at)
    with control_group("memory") as group:
        group.limit_memory(most)
        words = ["/bin/sh", "-c", 'read go; exec "$@" </dev/null', "sh", *shell, str(starter_path())]
        environment = given | {"PATH": os.environ["PATH"]}
        with subprocess.Popen(words, env=environment, stdin=subprocess.PIPE) as process:
            group.take(process.pid)
            process.communicate(b"go\n", timeout=120)
    return process.returncode


@pytest.mark.control_group
def test_memory_and_cpu_time_are_those_of_the_control_group(
    shell: list[str], group: list[Path], tmp_path: Path
) -> None:
    assert in_group(group, shell, tmp_path / "d", _EATER.format(seconds=4, bytes=1)) == 0
    samples = samples_of((tmp_path / "d/job" / FILE).read_bytes())
    assert len(samples) >= 2
    assert 30_000_000 < max(one.memory for one in samples) < 60 << 20
    assert all(one.cpu_s > 0 and one.disk is not None for one in samples)


def test_without_one_the_session_is_looked_at_and_the_samples_come_home(
    shell: list[str], tmp_path: Path
) -> None:
    script = _EATER.format(seconds=2.5, bytes=1)
    settings = {"beat": 1, "use_path": str(use_path()), "outputs": ("out",)}
    run(shell, tmp_path / "d", sys.executable, "-c", script, **settings)
    (first, *_) = samples_of((tmp_path / "d/job" / FILE).read_bytes())
    assert 30_000_000 < first.memory < 200_000_000
    mark = read_ended(tmp_path / "d")
    assert mark is not None
    assert mark.memory == max(one.memory for one in samples_of((tmp_path / "d/job" / FILE).read_bytes()))
    assert FILE in read_outputs((tmp_path / "d/outputs").read_bytes())


@pytest.mark.parametrize(
    "left",
    ["echo 5 1 70000000000000000 - - - >{}", "echo no >{}", "rm -f {0}; mkfifo {0}", "ln -sf /etc/passwd {}"],
    ids=["too much", "none", "pipe", "link"],
)
def test_what_a_job_writes_in_place_of_its_samples_does_no_harm(
    shell: list[str], tmp_path: Path, left: str
) -> None:
    run(shell, tmp_path / "d", "sh", "-c", left.format(FILE), beat=30, use_path=str(use_path()))
    mark = read_ended(tmp_path / "d")
    assert mark is not None
    assert (mark.exit_code, mark.memory) == (0, None)


def test_a_job_that_ends_before_the_first_look_leaves_no_samples(shell: list[str], tmp_path: Path) -> None:
    run(shell, tmp_path / "d", "true", beat=30, use_path=str(use_path()))
    assert not (tmp_path / "d/job" / FILE).exists()


@pytest.mark.parametrize(
    ("words", "failure"),
    [
        (
            "slurmstepd: error: *** JOB 77 ON a1 CANCELLED AT 2026-01-01 DUE TO TIME LIMIT ***",
            "wall-limit",
        ),
        ("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=77.batch.", "out-of-memory"),
        ("slurmstepd: error: *** JOB 78 ON a1 CANCELLED DUE TO TIME LIMIT ***", ""),
    ],
    ids=["time", "memory", "of another job"],
)
def test_the_batch_systems_own_words_tell_why_it_ended_a_job(
    words: str, failure: str, tmp_path: Path
) -> None:
    """They stand where the starter itself complains; here the job writes them."""
    at = StarterSettings(str(tmp_path), use_path=str(use_path()))
    script = f"echo '{words}' >>{tmp_path}/log; kill -TERM $PPID $$; sleep 60"
    given = starter_variables(plain_order("sh", "-c", script), at)
    with (tmp_path / "log").open("ab") as log:
        subprocess.run(
            ["/bin/sh", str(starter_path())],
            env=given | {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "77"},
            stderr=log,
            check=False,
            start_new_session=True,
            timeout=60,
        )
    mark = read_ended(tmp_path)
    assert mark is not None
    assert (mark.failure, mark.terminated) == (failure, True)

_SAMPLE = """
. "$USE"
__clock() { read -r __uptime __rest </proc/uptime; }
__sample_use
echo "it goes on"
"""


@pytest.mark.parametrize(
    ("says", "seen"),
    [
        ("printf '40, 1000\\n60, 2500\\n'", (100, 3500 << 20)),
        ("echo '7, 12'", (7, 12 << 20)),
        ("echo '40 %, 1000 MiB'", (None, None)),
        ("true", (None, None)),
        ("echo '[N/A], [N/A]'", (None, None)),
        ("exit 9", (None, None)),
    ],
)
def test_gpus_that_a_job_was_given_are_summed(
    shell: list[str], tmp_path: Path, says: str, seen: tuple[int | None, int | None]
) -> None:
    """A stand-in for nvidia-smi, which cannot be had here."""
    tool = tmp_path / "programs/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n{says}\n')
    tool.chmod(0o755)
    path = f"{tool.parent}:{os.environ['PATH']}"
    given = {"PATH": path, "USE": str(use_path()), "CUDA_VISIBLE_DEVICES": "GPU-1,GPU-2"}
    words = [*shell, "-c", _SAMPLE]
    done = subprocess.run(words, env=given, cwd=tmp_path, check=True, timeout=60, capture_output=True)
    assert (done.stdout, done.stderr) == (b"it goes on\n", b"")
    (sample,) = samples_of((tmp_path / FILE).read_bytes())
    assert (sample.gpu_percent, sample.gpu_memory) == seen
    assert "-i GPU-1,GPU-2" in (tmp_path / "asked").read_text()


def test_no_gpu_is_asked_after_that_the_job_was_not_given(shell: list[str], tmp_path: Path) -> None:
    given = {"PATH": os.environ["PATH"], "USE": str(use_path())}
    subprocess.run([*shell, "-c", _SAMPLE], env=given, cwd=tmp_path, check=True, timeout=60)
    (sample,) = samples_of((tmp_path / FILE).read_bytes())
    assert (sample.gpu_percent, sample.gpu_memory) == (None, None)


@pytest.mark.parametrize("has_pgrep", [True, False])
def test_a_session_is_measured_alike_with_pgrep_and_without(
    shell: list[str], tmp_path: Path, has_pgrep: bool
) -> None:
    """What is in another session does not count; memory tells which processes were found."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("du", *(["pgrep"] if has_pgrep else [])):
        (programs / name).symlink_to(shutil.which(name) or "")
    text = "import sys; kept = b'x' * 40_000_000; print('.', flush=True); sys.stdin.read()"
    given = {"PATH": str(programs), "USE": str(use_path()), "EATER": sys.executable, "TEXT": text}
    script = f'"$EATER" -c "$TEXT" | {{ read -r dot; {_SAMPLE} }}'
    pipe, alone = subprocess.PIPE, [sys.executable, "-c", text]
    with subprocess.Popen(alone, stdin=pipe, stdout=pipe, start_new_session=True) as other:
        assert other.stdout is not None
        other.stdout.readline()
        words = [*shell, "-c", script]
        done = subprocess.Popen(words, env=given, cwd=tmp_path, stdin=pipe, start_new_session=True)
        wait_until(lambda: (tmp_path / FILE).exists() and (tmp_path / FILE).read_bytes().endswith(b"\n"))
        done.communicate(b"", timeout=60)
        other.communicate(b"", timeout=60)
    (sample,) = samples_of((tmp_path / FILE).read_bytes())
    assert sample.memory is not None
    assert 40_000_000 < sample.memory < 75_000_000
