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
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker_core.worker.boxing import landlock, seccomp
from broker_core.worker.boxing.__main__ import FAILED
from broker_core.worker.boxing.kinds import BoxKind
from tests.packaging.sources import ROOT
from tests.worker import break_out

pytestmark = pytest.mark.software
NOBODY = 65534
NICE = os.getpriority(os.PRIO_PROCESS, 0)
PYTHON = "/usr/bin/python3" if os.getuid() == 0 else sys.executable
"""Root's own interpreter may be where nobody else can read it."""
_ACCOUNT = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
BOXES = [BoxKind.BUBBLEWRAP, BoxKind.LANDLOCK]
_each = pytest.mark.parametrize("kind", BOXES)


@dataclass(frozen=True)
class NodeOfTwoSlots:
    """A directory with the programs, that of the agent, and those of slots a and b, all of one account."""

    root: Path

    def words(
        self, kind: BoxKind | None, slot: str, *command: str, options: tuple[str, ...] = ()
    ) -> list[str]:
        only = ["--only", str(kind)] if kind else []
        start = [*_ACCOUNT, PYTHON, "-m", "broker_core.worker.boxing", *only, *options]
        return [*start, "--read", str(self.root / "programs"), str(self.root / slot), *command]

    def run(
        self, kind: BoxKind | None, *command: str, options: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run in slot a."""
        words = self.words(kind, "a", *command, options=options)
        return subprocess.run(
            words, cwd=self.root / "programs", capture_output=True, text=True, timeout=120, check=False
        )


@pytest.fixture(scope="module")
def node() -> Iterator[NodeOfTwoSlots]:
    with tempfile.TemporaryDirectory(prefix="boxes-") as made:
        root = Path(made).resolve()
        programs = root / "programs"
        shutil.copytree(ROOT / "broker_core/worker/boxing", programs / "broker_core/worker/boxing")
        for package in (programs / "broker_core", programs / "broker_core/worker"):
            (package / "__init__.py").touch()
        shutil.copy(break_out.__file__, programs / "break_out.py")
        for name, file in (("a", "own"), ("b", "secret"), ("agent", "key")):
            (root / name).mkdir()
            (root / name / file).write_text("of the other", encoding="utf-8")
        root.chmod(0o755)
        if os.getuid() == 0:
            for path in (root, *root.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        yield NodeOfTwoSlots(root)


@pytest.fixture
def others(node: NodeOfTwoSlots, kind: BoxKind) -> Iterator[list[subprocess.Popen[str]]]:
    """The job of slot b in its own box, and a process of the agent in none; each has said that it runs."""
    says = "sh", "-c", "echo runs; exec sleep 600"
    boxed = node.words(kind, "b", *says)
    started = []
    for words, at in ((boxed, "programs"), ([*_ACCOUNT, *says], "agent")):
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
    node: NodeOfTwoSlots, kind: BoxKind, others: list[subprocess.Popen[str]]
) -> None:
    pids = [str(one.pid) for one in others]
    neighbor, key = node.root / "b", node.root / "agent" / "key"
    done = node.run(kind, PYTHON, str(node.root / "programs/break_out.py"), str(neighbor), str(key), *pids)
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert len(outcomes) == 15 + 2 * 14
    assert {name: told for name, told in outcomes.items() if not told.startswith("refused")} == {}
    assert [one.poll() for one in others] == [None, None], "they run on"
    assert [os.getpriority(os.PRIO_PROCESS, one.pid) for one in others] == [NICE, NICE]
    assert (neighbor / "secret").read_text(encoding="utf-8") == "of the other"
    assert [path.name for path in neighbor.iterdir() if not path.name.startswith(".")] == ["secret"]


def test_without_a_box_the_same_attempts_succeed(node: NodeOfTwoSlots) -> None:
    victim = subprocess.Popen([*_ACCOUNT, "sleep", "600"], cwd=node.root / "b", start_new_session=True)
    spare = node.root / "spare"
    shutil.copytree(node.root / "b", spare)
    if os.getuid() == 0:
        for path in (spare, *spare.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    done = node.run(
        *(BoxKind.NONE, PYTHON, str(node.root / "programs/break_out.py"), str(spare)),
        *(str(node.root / "agent" / "key"), str(victim.pid)),
        options=("--allow-unboxed",),
    )
    assert victim.wait(timeout=60) == -signal.SIGKILL
    outcomes = json.loads(done.stdout)
    assert outcomes["read the neighbor's file"] == "done: 'of the other'"
    assert outcomes["read what neither slot has"] == "done: 'of the other'"
    assert outcomes["write into it"] == "done"
    assert done.stderr == "boxing: not boxed: no box was wanted\n"
    shutil.rmtree(spare)


@_each
def test_a_job_in_a_box_works_in_its_directory_and_rules_its_own_children(
    node: NodeOfTwoSlots, kind: BoxKind
) -> None:
    text = (
        "pwd; cat own; echo; echo more >made; cat made; rm made; mktemp >/dev/null && echo temporary;"
        " sleep 600 & kill -TERM $!; wait $!; echo $?; echo x >/dev/null; exit 7"
    )
    done = node.run(kind, "sh", "-c", text)
    assert done.returncode == 7
    assert done.stdout.split("\n") == [str(node.root / "a"), "of the other", "more", "temporary", "143", ""]


@_each
def test_a_program_that_dies_by_a_signal_is_seen_to(node: NodeOfTwoSlots, kind: BoxKind) -> None:
    # Namespaces pass a signal on as shells do.
    code = node.run(kind, "sh", "-c", "kill -KILL $$").returncode
    assert code in (-signal.SIGKILL, 128 + signal.SIGKILL)


@_each
def test_a_program_that_is_not_there_is_told_with_its_name(node: NodeOfTwoSlots, kind: BoxKind) -> None:
    done = node.run(kind, "no-such-program")
    assert done.returncode != 0
    assert "no-such-program" in done.stderr


def test_the_best_box_that_works_is_taken_and_reported(node: NodeOfTwoSlots) -> None:
    report = str(node.root / "a" / "report")
    assert node.run(None, "true", options=("--report", report)).returncode == 0
    assert Path(report).read_text(encoding="utf-8") == "bubblewrap\n"
    no_bubblewrap = {"PATH": str(node.root / "programs")}
    words = node.words(None, "a", "/usr/bin/true", options=("--report", report))
    words[0] = shutil.which(words[0]) or words[0]
    done = subprocess.run(
        words, cwd=node.root / "programs", env=no_bubblewrap, check=False, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert Path(report).read_text(encoding="utf-8") == "landlock\n"


def test_where_no_box_can_be_made_nothing_runs_unless_that_is_allowed_and_it_is_said(
    node: NodeOfTwoSlots,
) -> None:
    report = str(node.root / "a" / "report")
    refused = node.run(BoxKind.NONE, "touch", "ran", options=("--report", report))
    assert (refused.returncode, refused.stderr) == (FAILED, "boxing: not boxed: no box was wanted\n")
    assert not (node.root / "a" / "ran").exists()
    allowed = node.run(BoxKind.NONE, "true", options=("--report", report, "--allow-unboxed"))
    assert allowed.returncode == 0
    assert Path(report).read_text(encoding="utf-8") == "not boxed: no box was wanted\n"


def test_words_that_name_no_directory_or_no_program_are_refused(node: NodeOfTwoSlots) -> None:
    done = node.run(BoxKind.LANDLOCK)
    assert (done.returncode, done.stderr) == (
        FAILED,
        "boxing: a directory that is there and a program are needed.\n",
    )


def test_this_kernel_holds_signals_and_the_filters_are_whole() -> None:
    assert landlock.version() >= landlock.NEEDED
    assert landlock.trouble() == ""
    assert [len(seccomp.program(machine)) % 8 for machine in ("x86_64", "aarch64")] == [0, 0]
