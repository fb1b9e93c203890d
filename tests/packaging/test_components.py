"""Components of the system are found or installed in one way, for tests and benchmarks."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.packaging.machine import Machine
from tests.packaging.sources import ROOT
from tests.waiting import wait_until

BENCHMARKS = ROOT / "tests" / "benchmarks"
_APT = """
echo "$*" >>{folder}/calls
case "$*" in *nordugrid-arc-plugins-arcrest*) exit 100 ;; *" -s "*) exit 0 ;; esac
case "$*" in *" vim "*) : >{folder}/bin/vim; chmod 755 {folder}/bin/vim ;; esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "bin")
    made.put("id", "echo 0")
    made.put("apt-get", _APT.format(folder=tmp_path))
    for name in ("htop", "tmux", "less", "busybox", "shellcheck"):
        made.put(name, "")
    return made


def test_what_is_there_is_not_installed(machine: Machine, tmp_path: Path) -> None:
    machine.put("vim", "")
    assert machine.sh("provide console").returncode == 0
    assert not (tmp_path / "calls").exists()


def test_what_is_missing_is_installed_and_then_seen(machine: Machine, tmp_path: Path) -> None:
    told = machine.sh("provide console", TMPDIR=str(tmp_path))
    assert told.returncode == 0
    assert "other shells ( vim)" in told.stderr


def test_one_unknown_package_does_not_stop_the_others(machine: Machine, tmp_path: Path) -> None:
    told = machine.sh(
        "apt_install clusters munge nordugrid-arc-plugins-arcrest csh; echo $?", TMPDIR=str(tmp_path)
    )
    assert "has no such package: nordugrid-arc-plugins-arcrest" in told.stderr
    assert (tmp_path / "calls").read_text().splitlines()[-1].endswith("--no-install-recommends munge csh")
    assert told.stdout == "0\n"


@pytest.mark.parametrize(("ci", "failed"), [("", ""), ("true", " missing-component")])
def test_tests_of_what_cannot_be_had_are_left_out_with_a_word(
    machine: Machine, tmp_path: Path, ci: str, failed: str
) -> None:
    machine.put("apt-get", "exit 100")
    told = machine.sh(
        'provide console || leave_out console "they need$lacking"; echo "$unmarked|$failed|$left_out"',
        CI=ci, TMPDIR=str(tmp_path),
    )  # fmt: skip
    assert told.stdout == f"not console|{failed}|\n  - tests marked console: they need vim\n"


def test_an_environment_is_made_once_and_told_of_where_it_cannot_be(machine: Machine, tmp_path: Path) -> None:
    calls, python = tmp_path / "calls", tmp_path / "small_jobs" / "bin" / "python"
    machine.put("python", f'echo "$*" >>{calls}; mkdir -p {python.parent}')
    commands = f"PYTHON={machine.folder}/python VENV={tmp_path}; provide small_jobs; echo $?$lacking"
    lacking = " the packages of packaging/small_jobs/requirements.lock"
    assert machine.sh(commands).stdout == f"1{lacking}\n"
    python.symlink_to(machine.folder / "python")
    assert [machine.sh(commands).stdout[0] for _ in range(2)] == ["0", "0"]
    lines = calls.read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["venv", "venv", "pip"]
    assert lines[-1].endswith(f"--require-hashes -r {ROOT}/packaging/small_jobs/requirements.lock")


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_benchmarks_are_told_without_setting_up_anything(word: str, tmp_path: Path) -> None:
    told = _bench(tmp_path, word)
    listed = [line.split()[0] for line in told.stdout.splitlines()[1:]]
    there = sorted(path.stem.removeprefix("bench_") for path in BENCHMARKS.glob("bench_*.py"))
    assert (told.returncode, listed, list(tmp_path.iterdir())) == (0, there, [])


def test_an_unknown_benchmark_is_an_error_that_lists_them(tmp_path: Path) -> None:
    told = _bench(tmp_path, "matching", "nosuch")
    assert (told.returncode, told.stdout) == (2, "")
    assert "no benchmark nosuch" in told.stderr
    assert "  life_cycle " in told.stderr
    assert list(tmp_path.iterdir()) == []


def _bench(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = ["sh", str(ROOT / "packaging" / "bench.sh"), *words]
    environment = {**os.environ, "CROSSDESK_VENV": str(folder / "venv")}
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment)


def test_each_need_of_a_benchmark_is_a_component(machine: Machine) -> None:
    lines = [
        line.removeprefix("# Needs: ")
        for path in BENCHMARKS.glob("bench_*.py")
        for line in path.read_text().splitlines()
        if line.startswith("# Needs: ")
    ]
    assert len(lines) >= 6
    assert machine.sh("\n".join(f"component {name}" for name in lines)).returncode == 0


@pytest.mark.root
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_bare_root_is_removed_however_its_making_ends(ending: signal.Signals, tmp_path: Path) -> None:
    base, fifo, program = tmp_path / "base", tmp_path / "fifo", tmp_path / "bin" / "mmdebstrap"
    base.mkdir()
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor root; do :; done\nmkdir "$root/etc"\nread -r _ <"$FIFO"\n')
    program.chmod(0o755)
    os.mkfifo(fifo)
    path = f"{program.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(base), "FIFO": str(fifo)}
    words = ["sh", str(ROOT / "packaging" / "fresh.sh")]
    process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
    wait_until(lambda: bool(list(base.glob("crossdesk-fresh.*/etc"))), what="the root is being made")
    process.send_signal(ending)
    process.wait()
    wait_until(lambda: not _named(base), what="all that made the root has ended")
    if ending == signal.SIGKILL:
        program.write_text("#!/bin/sh\nexit 1\n")
        assert subprocess.run(words, env=environment, stderr=subprocess.DEVNULL, check=False).returncode == 1
    assert process.returncode not in (0, None)
    assert list(base.iterdir()) == []


def _named(folder: Path) -> list[bytes]:
    """The command lines of this machine that name a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ends just now
            found.append((process / "cmdline").read_bytes())
    return [line for line in found if os.fsencode(folder) in line]
