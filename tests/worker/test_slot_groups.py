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

from tests.running import end_all
from tests.waiting import wait_until
from tests.worker.glidein_node import NAME, Node

pytestmark = pytest.mark.control_group
_CPU = Path("/sys/fs/cgroup/cpu")
BY = ([], ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
"""Words before those of root, and of an account that may not."""
_FULL, _LOW = 1024, 108
"""Shares of the nice values 0 and 10: a fifth less for each."""


@pytest.fixture
def own(either: Node) -> Iterator[Path]:
    """The group of the batch job of a glidein, which it may divide: the first version of control groups."""
    group = _CPU / f"crossdesk-test-{os.getpid()}"
    group.mkdir()
    either.starts_by = ("/bin/sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh")
    yield group
    either.close()
    end_all(either.root)
    for folder in (*group.glob("*/*/"), *group.glob("*/"), group):
        with suppress(FileNotFoundError):
            wait_until(lambda folder=folder: not (folder / "cgroup.procs").read_text())
            folder.rmdir()


def group_of(pid: int) -> Path:
    """Where the kernel counts the processor's time of a process."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    (path,) = [line.split(":", 2)[2] for line in lines if line.split(":")[1] == "cpu"]
    return _CPU / path.lstrip("/")


def shares(pid: int) -> int:
    return int((group_of(pid) / "cpu.shares").read_text())


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
    assert group_of(batch).parent == own / NAME
    assert shares(batch) == _FULL
    either.begin("talk", "c2", "sleep 600")
    talk = pid_of(either, "talk")
    assert group_of(talk).parent == own / NAME
    assert group_of(talk) != group_of(batch)
    either.want("c1", "batch 10 run")
    wait_until(lambda: shares(batch) == _LOW)
    assert shares(talk) == _FULL
    assert os.getpriority(os.PRIO_PROCESS, batch) == 0, "that could not be raised again by everybody"
    either.want("c2", "talk 0 end")
    wait_until(lambda: either.status is not None and "c2" in either.status.over)
    either.want("c1", "batch 0 run")
    wait_until(lambda: shares(batch) == _FULL)


def test_nothing_that_a_program_starts_is_in_another_group(either: Node, own: Path) -> None:
    either.start()
    either.renew(1)
    either.begin("first", "c1", "true")
    wait_until(lambda: either.status is not None and "c1" in either.status.over)
    either.begin("batch", "c2", "setsid -f sleep 599; exec sleep 600")
    group = group_of(pid_of(either, "batch"))
    wait_until(lambda: _commands(group).count("sleep") == 2)
    either.want("c2", "batch 10 run")
    wait_until(lambda: int((group / "cpu.shares").read_text()) == _LOW)


def test_who_is_behind_one_that_gave_way_does_not(either: Node, own: Path) -> None:
    either.start()
    either.renew(1)
    either.begin("batch", "c1", "sleep 600")
    batch = pid_of(either, "batch")
    either.begin("behind", "c2", "sleep 600", after="c1")
    either.want("c1", "batch 10 run")
    wait_until(lambda: shares(batch) == _LOW)
    either.want("c1", "batch 10 end")
    assert shares(pid_of(either, "behind")) == _FULL


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
    group = _CPU / f"crossdesk-test-{os.getpid()}"
    group.mkdir()
    text = "from broker_core.worker.boxing.control_groups import join_group_of as join; import sys"
    shown = f"{text}; join(int(sys.argv[1])); print(open('/proc/self/cgroup').read())"
    other = subprocess.Popen(["/bin/sleep", "600"])
    try:
        (group / "cgroup.procs").write_text(str(other.pid))
        words = [sys.executable, "-c", shown, str(other.pid)]
        printed = [subprocess.run([*by, *words], check=True, capture_output=True).stdout for by in BY]
        assert [f"cpu:/{group.name}\n".encode() in one for one in printed] == [True, False]
    finally:
        other.kill()
        other.wait(60)
        group.rmdir()


def _commands(group: Path) -> list[str]:
    names = []
    for pid in (group / "cgroup.procs").read_text().split():
        with suppress(OSError):
            names.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return names
