"""Two jobs on one node cannot read each other, signal each other, or leave their directory (CB-SEC-04)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import asyncssh
import pytest

from broker_core.worker.agent_settings import BOX, take_box
from broker_core.worker.boxing import landlock, seccomp
from broker_core.worker.encoding import encode_list
from broker_core.worker.sub_channels.boxed_files import FilesInBox
from tests.worker import break_out
from tests.worker.two_slots import ACCOUNT, NOBODY, PATH, NodeOfTwoSlots, two_slots

pytestmark = pytest.mark.software
NICE = os.getpriority(os.PRIO_PROCESS, 0)
PYTHON = "/usr/bin/python3" if os.getuid() == 0 else sys.executable
"""Root's own interpreter may be where nobody else can read it."""
FAILED = 125
_each = pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])


@pytest.fixture(scope="module")
def node() -> Iterator[NodeOfTwoSlots]:
    with two_slots(Path(break_out.__file__)) as made:
        yield made


@pytest.fixture
def others(node: NodeOfTwoSlots, kind: str) -> Iterator[list[subprocess.Popen[str]]]:
    """The job of slot b in its own box, and a process of the agent in none; each has said that it runs."""
    assert node.find(kind).startswith(kind)
    says = "sh", "-c", "echo runs; exec sleep 600"
    started = []
    for words, at in ((node.words("b", *says), "b/job"), ([*ACCOUNT, *says], "agent")):
        started.append(
            subprocess.Popen(
                words, cwd=node.root / at, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
        )
    for one in started:
        assert one.stdout is not None
        assert one.stdout.readline() == "runs\n"
    yield started
    for one in started:
        one.kill()
        one.communicate()


@_each
def test_every_attempt_to_break_out_of_a_slot_is_refused(
    node: NodeOfTwoSlots, kind: str, others: list[subprocess.Popen[str]]
) -> None:
    pids = [str(one.pid) for one in others]
    neighbor, key = node.root / "b/job", node.root / "agent/key"
    done = node.run(PYTHON, str(node.root / "programs/break_out.py"), str(neighbor), str(key), *pids)
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert len(outcomes) == 16 + 2 * 14
    assert {name: told for name, told in outcomes.items() if not told.startswith("refused")} == {}
    assert [one.poll() for one in others] == [None, None], "they run on"
    assert [os.getpriority(os.PRIO_PROCESS, one.pid) for one in others] == [NICE, NICE]
    assert (neighbor / "secret").read_text(encoding="utf-8") == "of the other"
    assert [path.name for path in neighbor.iterdir()] == ["secret"]


def test_without_a_box_the_same_attempts_succeed_and_why_there_is_none_is_said(node: NodeOfTwoSlots) -> None:
    assert node.find("none") == "not boxed: no box was wanted\n"
    victim = subprocess.Popen([*ACCOUNT, "sleep", "600"], cwd=node.root / "b/job", start_new_session=True)
    spare = node.root / "spare"
    shutil.copytree(node.root / "b/job", spare)
    if os.getuid() == 0:
        for path in (spare, *spare.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    words = PYTHON, str(node.root / "programs/break_out.py"), str(spare), str(node.root / "agent/key")
    done = node.run(*words, str(victim.pid))
    assert victim.wait(timeout=60) == -signal.SIGKILL
    outcomes = json.loads(done.stdout)
    assert outcomes["read the neighbor's file"] == "done: 'of the other'"
    assert outcomes["read what neither slot has"] == "done: 'of the other'"
    assert outcomes["write into it"] == "done"
    shutil.rmtree(spare)


@_each
def test_a_job_in_a_box_works_in_its_directory_and_rules_its_own_children(
    node: NodeOfTwoSlots, kind: str
) -> None:
    assert node.find(kind).startswith(kind)
    text = (
        "pwd; cat own; echo; echo more >made; cat made; rm made; mktemp >/dev/null && echo temporary;"
        f" echo x >'{node.root}/for all/{kind}';"
        " sleep 600 & kill -TERM $!; wait $!; echo $?; echo x >/dev/null; exit 7"
    )
    done = node.run("sh", "-c", text)
    assert done.returncode == 7, done.stderr
    lines = [str(node.root / "a/job"), "of the other", "more", "temporary", "143", ""]
    assert done.stdout.split("\n") == lines
    assert (node.root / "for all" / kind).exists()


@_each
def test_a_program_is_asked_to_end_and_says_how_it_did(node: NodeOfTwoSlots, kind: str) -> None:
    assert node.find(kind).startswith(kind)
    # Namespaces pass a signal on as shells do.
    assert node.run("sh", "-c", "kill -KILL $$").returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    words = node.words("a", "sh", "-c", "trap 'exit 5' TERM; echo runs; while :; do sleep 0.1; done")
    asked = subprocess.Popen(
        words, cwd=node.root / "a/job", stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert asked.stdout is not None
    assert asked.stdout.readline() == "runs\n"
    os.killpg(asked.pid, signal.SIGTERM)
    asked.communicate(timeout=60)
    assert asked.returncode == 5


@_each
def test_a_program_that_is_not_there_is_told_with_its_name(node: NodeOfTwoSlots, kind: str) -> None:
    assert node.find(kind).startswith(kind)
    done = node.run("no-such-program")
    assert done.returncode != 0
    assert "no-such-program" in done.stderr


@_each
def test_software_of_the_account_can_be_used_and_nothing_else_of_its_home(
    node: NodeOfTwoSlots, kind: str
) -> None:
    with tempfile.TemporaryDirectory(prefix="home-") as made:
        home = Path(made).resolve()
        texts = {
            "conda/bin/tool": f"#!/bin/sh\ncat {home}/conda/lib/data\n",
            "conda/lib/data": "of the tool\n",
            "env/bin/python": f"#!/bin/sh\n. {home}/conda/lib/data\n",
            "env/pyvenv.cfg": f"home = {home}/base/bin\nversion = 3.11\n",
            "base/lib/module": "of the base\n",
            "bin/own": "#!/bin/sh\necho own\n",
            "share/diary": "of the user\n",
            "secret": "of the user\n",
        }
        for name, text in texts.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
            (home / name).chmod(0o755)
        home.chmod(0o755)
        folders = [f"{home}/conda/bin", f"{home}/env/bin", f"{home}/bin", str(home), str(node.root / "b/job")]
        found = node.find(kind, path=":".join([*folders, PATH]), HOME=str(home)).splitlines()
        assert found[0].startswith(kind)
        names = ("conda/bin", "conda/lib", "env/bin", "env/pyvenv.cfg", "base/lib", "bin")
        assert found[1:] == [f"{home}/{name}" for name in names]
        seen = ("conda/lib/data", "env/pyvenv.cfg", "base/lib/module", "bin/own")
        for name in seen:
            assert node.run("cat", f"{home}/{name}").stdout == texts[name]
        assert node.run(f"{home}/conda/bin/tool").stdout == "of the tool\n"
        for name in texts.keys() - {*seen, "conda/bin/tool", "env/bin/python"}:
            assert node.run("cat", f"{home}/{name}").returncode != 0, name
        assert node.run("cat", str(node.root / "b/job/secret")).returncode != 0
        assert node.run("sh", "-c", f"echo >{home}/bin/made").returncode != 0


def test_software_in_a_folder_that_is_shown_is_not_shown_once_more(node: NodeOfTwoSlots) -> None:
    with tempfile.TemporaryDirectory(prefix="home-") as made:
        home = Path(made).resolve()
        for name in ("pyenv/versions/3/bin", "pyenv/versions/3/lib", "pyenv/shims", "pyenv-2/bin"):
            (home / name).mkdir(parents=True)
        home.chmod(0o755)
        folders = [f"{home}/{name}" for name in ("pyenv/versions/3/bin", "pyenv/shims", "pyenv-2/bin")]
        found = node.find("bubblewrap", path=":".join([*folders, PATH]), HOME=str(home)).splitlines()
    assert found == ["bubblewrap", f"{home}/pyenv", f"{home}/pyenv-2/bin"]


def test_the_best_box_that_works_is_taken(node: NodeOfTwoSlots, tmp_path: Path) -> None:
    assert node.find() == "bubblewrap\n"
    few = node.root / "few"
    few.mkdir()
    for name in ("python3", "tail", "tr", "mv"):
        (few / name).symlink_to(f"/usr/bin/{name}")
    assert node.find(path=str(few)).startswith("landlock /")
    (few / "python3").unlink()
    reasons = "bubblewrap is not installed; Landlock needs a python3, which is not installed"
    assert node.find(path=str(few)) == f"not boxed: {reasons}\n"
    shutil.rmtree(few)


def test_where_it_is_not_known_what_box_can_be_made_nothing_runs(node: NodeOfTwoSlots) -> None:
    (node.root / "programs/found").unlink(missing_ok=True)
    done = node.run("touch", "ran")
    assert (done.returncode, done.stderr) == (FAILED, "box: it is not known which can be made here\n")
    assert not (node.root / "a/job/ran").exists()


def test_a_link_of_the_program_leads_desks_out_of_its_directory_no_more_than_itself(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    for name in ("secret", "job/own"):
        (tmp_path / name).touch()
    (tmp_path / "job/out").symlink_to(tmp_path / "secret")
    (tmp_path / "job/in").symlink_to("own")
    files = FilesInBox(Mock(), tmp_path / "job")
    assert files.map_path(b"/in") == os.fsencode(tmp_path / "job/in")
    for name in (b"out", b"/out"):
        with pytest.raises(asyncssh.SFTPPermissionDenied):
            files.map_path(name)


def test_commands_beside_a_program_are_in_its_box(tmp_path: Path) -> None:
    environment = {BOX: encode_list(["/there/box.sh", "run", "a b", "--"]), "HOME": "/home"}
    assert take_box(environment, tmp_path) == ("/bin/sh", "/there/box.sh", "run", "a b", "--", str(tmp_path))
    assert environment == {"HOME": "/home"}
    assert take_box(environment, tmp_path) == ()


def test_this_kernel_holds_signals_and_the_filters_are_whole() -> None:
    assert landlock.version() >= landlock.NEEDED
    assert landlock.trouble() == ""
    assert [len(seccomp.program(machine)) % 8 for machine in ("x86_64", "aarch64")] == [0, 0]
