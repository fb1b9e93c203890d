"""Weights of control groups, where a glidein can divide that of its batch job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.crash.control_group import control_group
from tests.running import end_all
from tests.waiting import wait_until
from tests.worker.glidein_node import NAME, Node

pytestmark = pytest.mark.control_group
BY = ([], ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
"""Words before those of root, and of an account that may not."""
_SHARES = {1024: 0, 108: 10}
"""Nice values by shares of the first version of control groups: a fifth less for each step."""


@pytest.fixture
def own(either: Node) -> Iterator[Path]:
    """The group of the batch job of a glidein, which it may divide."""
    with control_group("cpu") as group:
        either.starts_by = ("/bin/sh", "-c", f'echo $$ >{group.folder}/cgroup.procs; exec "$@"', "sh")
        yield group.folder
        either.close()
        end_all(either.root)
        for folder in (*group.folder.glob("*/*/"), *group.folder.glob("*/")):
            with suppress(FileNotFoundError):
                wait_until(lambda folder=folder: not (folder / "cgroup.procs").read_text())
                folder.rmdir()


def group_of(pid: int, own: Path) -> Path:
    """Where the kernel counts the processor's time of a process of a batch job."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    (path,) = [line.split(":", 2)[2] for line in lines if own.name in line]
    return own.parent / path.lstrip("/")


def weight(group: Path) -> int:
    """Its weight as a nice value."""
    newer = group / "cpu.weight.nice"
    return int(newer.read_text()) if newer.exists() else _SHARES[int((group / "cpu.shares").read_text())]


def pid_of(node: Node, tag: str) -> int:
    wait_until(lambda: node.pid_of(tag) is not None)
    pid = node.pid_of(tag)
    assert pid is not None
    return pid


def test_slots_share_by_weight_and_both_ways(either: Node, own: Path) -> None:
    either.start()
    either.renew(1)
    assert either.status is not None
    assert either.status.both_ways
    either.begin("batch", "c1", "sleep 600")
    batch = pid_of(either, "batch")
    group = group_of(batch, own)
    assert (group.parent, weight(group)) == (own / NAME, 0)
    either.begin("talk", "c2", "sleep 600")
    talk = pid_of(either, "talk")
    beside = group_of(talk, own)
    assert beside.parent == own / NAME
    assert beside != group
    either.want("c1", "batch 10 run")
    wait_until(lambda: weight(group) == 10)
    assert weight(beside) == 0
    assert os.getpriority(os.PRIO_PROCESS, batch) == 0, "that could not be raised again by everybody"
    either.want("c2", "talk 0 end")
    wait_until(lambda: either.status is not None and "c2" in either.status.over)
    either.want("c1", "batch 0 run")
    wait_until(lambda: weight(group) == 0)


def test_nothing_that_a_program_starts_is_in_another_group(either: Node, own: Path) -> None:
    either.start()
    either.renew(1)
    either.begin("first", "c1", "true")
    wait_until(lambda: either.status is not None and "c1" in either.status.over)
    either.begin("batch", "c2", "setsid -f sleep 599; exec sleep 600")
    group = group_of(pid_of(either, "batch"), own)
    wait_until(lambda: _commands(group).count("sleep") == 2)
    either.want("c2", "batch 10 run")
    wait_until(lambda: weight(group) == 10)


def test_who_is_behind_one_that_gave_way_does_not(either: Node, own: Path) -> None:
    either.start()
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    batch = pid_of(either, "batch")
    either.begin("behind", "c2", "sleep 600", after="c1")
    either.want("c1", "batch 10 run")
    wait_until(lambda: weight(group_of(batch, own)) == 10)
    either.want("c1", "batch 10 end")
    assert weight(group_of(pid_of(either, "behind"), own)) == 0


def test_a_glidein_that_ends_leaves_no_groups(either: Node, own: Path) -> None:
    process = either.start()
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    pid_of(either, "batch")
    assert list(own.glob(f"{NAME}/*/"))
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    assert not (own / NAME).exists()


def test_who_runs_in_place_of_another_process_goes_into_its_group(tmp_path: Path) -> None:
    """As the copy of a warm agent does; one that may not stays where it is."""
    text = "from broker_core.worker.boxing.control_groups import join_group_of as join; import sys"
    shown = f"{text}; join(int(sys.argv[1])); print(open('/proc/self/cgroup').read())"
    with control_group("cpu") as group, subprocess.Popen(["/bin/sleep", "600"]) as other:
        group.take(other.pid)
        words = [sys.executable, "-c", shown, str(other.pid)]
        printed = [subprocess.run([*by, *words], check=True, capture_output=True).stdout for by in BY]
        other.kill()
        assert [f":/{group.folder.name}\n".encode() in one for one in printed] == [True, False]


def _commands(group: Path) -> list[str]:
    names = []
    for pid in (group / "cgroup.procs").read_text().split():
        with suppress(OSError):
            names.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return names
