"""The set-up scripts, with a machine made of small stand-in programs on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from broker_core.command_line.nouns import NOUNS
from tests.packaging.machine import Machine
from tests.packaging.sources import ROOT

SCRIPTS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "packaging").glob("*.sh"))
CHECKS = [["sh", "-n", name] for name in SCRIPTS]
if shellcheck := shutil.which("shellcheck"):
    CHECKS.append([shellcheck, "-s", "sh", *SCRIPTS])  # together, since they source one another


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "bin")


@pytest.mark.parametrize("words", CHECKS, ids=lambda words: f"{Path(words[0]).name} {words[2]}")
def test_each_script_is_good_posix_shell(words: list[str]) -> None:
    told = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_the_start_script_takes_every_command_for_one() -> None:
    [line] = re.findall(r"^(.*) \| --help \| --version\)", (ROOT / "packaging" / "run.sh").read_text(), re.M)
    assert sorted(line.split(" | ")) == sorted(NOUNS)


def test_ci_runs_the_test_script() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "sh packaging/test.sh" in (ROOT / ".ci" / "run").read_text()


def test_an_older_python_is_refused_with_a_clear_message(machine: Machine) -> None:
    machine.put("python3", '[ "$1" = --version ] && echo "Python 3.9.2" && exit 0; exit 1')
    told = machine.sh("choose_python")
    assert told.returncode == 1
    assert "Python 3.11 to 3.14 is needed; found here: Python 3.9.2" in told.stderr


def test_a_newer_python_beside_an_old_default_is_found(machine: Machine) -> None:
    machine.put("python3", "exit 1")
    machine.put("python3.13", "exit 0")
    told = machine.sh('choose_python; printf %s "$PYTHON"')
    assert told.stdout == str(machine.folder / "python3.13")


def test_without_venv_an_ordinary_user_is_told_the_exact_command(machine: Machine) -> None:
    machine.put("id", "echo 1000")
    machine.put("python3", 'case "$2" in *ensurepip*) exit 1 ;; *print*) echo 3.12 ;; esac')
    told = machine.sh("choose_python; choose_place; make_venv")
    assert told.returncode == 1
    assert "sudo apt-get install python3.12-venv" in told.stderr


def test_without_venv_root_installs_it(machine: Machine, tmp_path: Path) -> None:
    log = tmp_path / "apt"
    machine.put("id", "echo 0")
    machine.put("apt-get", f'echo "$*" >>{log}; touch {tmp_path}/there')
    script = 'case "$2" in *ensurepip*) [ -e {0}/there ]; exit ;; *print*) echo 3.12 ;; esac'
    machine.put("python3", script.format(tmp_path))
    told = machine.sh(
        "choose_python; make_venv", CROSSDESK_VENV=str(tmp_path / "venv"), VENV=str(tmp_path / "venv")
    )
    assert "python3.12-venv" in log.read_text()
    assert "Installing virtual environments" in told.stderr


def test_the_environment_goes_to_the_cache_where_the_folder_cannot_be_written(
    machine: Machine, tmp_path: Path
) -> None:
    told = machine.sh('ROOT=/proc; choose_place; printf %s "$VENV"', XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert told.stdout.startswith(f"{tmp_path}/cache/crossdesk/venv-")


def test_a_second_start_installs_nothing(machine: Machine, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    calls = tmp_path / "calls"
    machine.put(
        "python", f'echo "$*" >>{calls}; case "$2" in *purelib*) echo {tmp_path} ;; *version*) echo 3 ;; esac'
    )
    (venv / "bin" / "python").symlink_to(machine.folder / "python")
    for _ in range(2):
        assert machine.sh("make_environment requirements.lock", CROSSDESK_VENV=str(venv)).returncode == 0
    assert calls.read_text().count("pip install") == 1
    assert (tmp_path / "crossdesk-source.pth").read_text().strip() == str(ROOT)


def test_an_interrupted_set_up_is_taken_up_again(machine: Machine, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    machine.put("python", 'case "$*" in *"pip install"*) exit 1 ;; esac')
    (venv / "bin" / "python").symlink_to(machine.folder / "python")
    told = machine.sh("make_environment requirements.lock", CROSSDESK_VENV=str(venv))
    assert told.returncode == 1
    assert "could not be installed" in told.stderr
    assert not (venv / ".crossdesk-requirements.lock").exists()


def test_missing_window_libraries_are_named_with_the_command(machine: Machine) -> None:
    machine.put("id", "echo 1000")
    machine.put("python", "echo /nowhere")
    machine.put("ldd", "echo '\tlibxcb-cursor.so.0 => not found'")
    told = machine.sh("PYTHON=python; qt_libraries xcb")
    assert told.returncode == 1
    assert "libxcb-cursor.so.0" in told.stderr
    assert "sudo apt-get install" in told.stderr
    assert "libxcb-cursor0" in told.stderr


@pytest.mark.parametrize(("system", "started"), [("Linux x86_64", True), ("Linux aarch64", False)])
def test_the_agent_is_built_beside_the_first_start_where_it_can_be(
    machine: Machine, tmp_path: Path, system: str, *, started: bool
) -> None:
    (tmp_path / "packaging").mkdir()
    for name, script in {"uname": f"echo {system}", "apt-get": "", "setsid": 'exec "$@"'}.items():
        machine.put(name, script)
    machine.put("nice", 'shift 2; exec "$@"')
    (tmp_path / "packaging" / "agent.sh").write_text('echo "called with $*"')
    told = machine.sh(f"ROOT='{tmp_path}'; build_agent_aside; wait")
    assert (told.returncode, told.stderr) == (0, "")
    log = tmp_path / "build" / "agent" / "log"
    assert (log.read_text() if log.exists() else "") == ("called with --if-needed\n" if started else "")


def test_with_an_environment_that_was_there_a_command_builds_no_agent(machine: Machine) -> None:
    told = machine.sh(
        "build_agent_aside() { echo built; }; build_agent_at_set_up; newly_made=true; build_agent_at_set_up"
    )
    assert told.stdout == "built\n"
