"""Boxes that one process makes for all programs of a line hold them as bubblewrap does (CB-SEC-04)."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from broker_core.worker.scripts.payloads.boxes import MadeBox
from broker_core.worker.scripts.payloads.maker_link import MakerLink
from broker_core.worker.scripts.payloads.view import steps_of
from tests.running import processes_of
from tests.waiting import wait_until
from tests.worker import break_out_of_line, leave_in_line
from tests.worker.glidein_node import Node

pytestmark = pytest.mark.software
HERE = "/directory"
WORDS = [
    "--unshare-pid",
    "--proc",
    "/proc",
    "--ro-bind",
    "/usr",
    "/usr",
    "--bind",
    f"{HERE}/job",
    f"{HERE}/job",
]
WORDS += ["--bind", f"{HERE}/scratch", f"{HERE}/scratch", "--chdir", f"{HERE}/job", "--", "env"]


@pytest.fixture
def line(lasting: Node) -> Node:
    """What makes boxes is there from the second program on."""
    lasting.writes = ()
    lasting.start()
    lasting.renew(1)
    ran(lasting, "first", "echo of the first >secret")
    ran(lasting, "second", "true")
    return lasting


def ran(node: Node, tag: str, script: str, status: int = 0) -> Path:
    """Run a program to its end; the directory of its job."""
    node.begin(tag, f"c-{tag}", script)
    wait_until(lambda: node.status is not None and f"c-{tag}" in node.status.over)
    folder = node.root / "attempts" / node.attempt(tag) / "job"
    assert node.status is not None
    assert node.status.over[f"c-{tag}"] == status, (folder / "err").read_text()
    return folder


def started(node: Node, tag: str, script: str) -> int:
    """Start a program; its pid."""
    node.begin(tag, f"c-{tag}", script)
    wait_until(lambda: node.pid_of(tag) is not None)
    pid = node.pid_of(tag)
    assert pid is not None
    return pid


def maker_of(pid: int) -> int:
    """What makes the box of a program."""
    maker = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    assert b"payloads.server" in Path(f"/proc/{maker}/cmdline").read_bytes()
    assert Path(f"/proc/{maker}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
    return maker


def is_there(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_every_attempt_to_break_out_of_a_line_is_refused(line: Node) -> None:
    shutil.copy(break_out_of_line.__file__, line.root / "programs")
    other = line.root / "attempts" / line.attempt("first")
    program = f"{line.root}/programs/{Path(break_out_of_line.__file__).name}"
    pid = started(line, "waits", "while [ ! -e go ]; do sleep 0.1; done")
    maker = maker_of(pid)
    (line.root / "attempts" / line.attempt("waits") / "job" / "go").touch()
    here = ran(line, "breaks", f"exec /usr/bin/python3 {program} {other}")
    outcomes = json.loads((here / "out").read_text())
    assert len(outcomes) > 100
    assert {name: text for name, text in outcomes.items() if not text.startswith("refused")} == {}
    assert (other / "job" / "secret").read_text() == "of the first\n"
    assert maker_of(started(line, "next", "sleep 600")) == maker, "it goes on"


def test_a_program_has_no_rights_and_nothing_open_but_its_own_files(line: Node) -> None:
    text = (
        "cat /proc/self/status; echo; ls -l /proc/self/fd; id -u; cat /proc/self/cgroup; kill -KILL 1; kill 1"
    )
    here = ran(line, "rights", f"{text}; ls {line.root}/attempts {line.root}; exit 0")
    printed = (here / "out").read_text()
    rights = [row.split()[1] for row in printed.splitlines() if row.startswith(("Cap", "NoNewPrivs"))]
    assert rights == [*["0" * 16] * 5, "1"]
    held = [row.rpartition(" -> ")[2] for row in printed.splitlines() if " -> " in row]
    assert held == ["/dev/null", f"{here}/out", f"{here}/err", held[-1]]
    assert held[-1].startswith("/proc/")
    assert f"\n{os.getuid()}\n" in printed
    ours, _, attempts = printed.rpartition(f"{line.root}/attempts:\n")
    assert attempts.split() == [here.parent.name]
    assert {"glideins", "news"}.isdisjoint(ours.rpartition(f"{line.root}:\n")[2].split())


def test_nothing_of_a_program_is_left_for_the_next_one(line: Node) -> None:
    leaves = "touch /tmp/left /dev/shm/left /left; mkdir -p /home/left; ipcmk -M 9 >/dev/null; ipcmk -Q >out"
    daemons = "setsid sleep 987 & (sleep 987 &); nohup sleep 987 >/dev/null 2>&1 &"
    ran(line, "leaves", f"{leaves}; {daemons} ln -s /etc /tmp/link; exit 0")
    assert not [pid for pid in processes_of(line.root / "attempts" / line.attempt("leaves")) if is_there(pid)]
    shows = "ls -A /tmp /dev/shm; ls -d /left /home/left; ipcs | grep -c 0x; ls /proc | grep -c ^[0-9]"
    here = ran(line, "shows", f"{shows}; exit 0")
    rows = [row for row in (here / "out").read_text().split("\n") if row and not row.startswith("/")]
    named = [name for name in Path("/dev/shm").parts if name in str(line.root)]
    assert rows[:-2] == [] or named, rows
    assert rows[-2:] == ["0", "4"], "itself, its first process, and two that count"


def leaving(line: Node, what: str) -> str:
    """A script that runs `leave_in_line.py`."""
    program = shutil.copy(leave_in_line.__file__, line.root / "programs")
    return f"exec /usr/bin/python3 {program} {what}"


def found_by(line: Node, tag: str, what: str) -> dict[str, Any]:
    """What a program of `leave_in_line.py` finds at its end."""
    return dict(json.loads((ran(line, tag, leaving(line, what)) / "out").read_text()))


def ran_in_line(line: Node, scripts: dict[str, str]) -> dict[str, Path]:
    """Run programs one behind the other, each of which was there before the one ahead began; the directories
    of their jobs."""
    ahead = "waits-first"
    started(line, ahead, "while [ ! -e go ]; do sleep 0.1; done")
    for tag, script in scripts.items():
        line.begin(tag, f"c-{tag}", script, after=f"c-{ahead}")
        ahead = tag
    jobs = {tag: line.root / "attempts" / line.attempt(tag) / "job" for tag in ("waits-first", *scripts)}
    (jobs.pop("waits-first") / "go").touch()
    wait_until(lambda: line.status is not None and {f"c-{tag}" for tag in scripts} <= line.status.over.keys())
    assert line.status is not None
    codes = {tag: line.status.over[f"c-{tag}"] for tag in scripts}
    assert codes == dict.fromkeys(scripts, 0), {tag: (job / "err").read_text() for tag, job in jobs.items()}
    assert len({line.minder(f"c-{tag}") for tag in scripts}) == 1, "one has run them all"
    return jobs


def maker_now(line: Node, tag: str) -> int:
    """What makes boxes, which has made that of a program that waits until then."""
    maker = maker_of(started(line, tag, "while [ ! -e go ]; do sleep 0.1; done"))
    (line.root / "attempts" / line.attempt(tag) / "job" / "go").touch()
    wait_until(lambda: line.status is not None and f"c-{tag}" in line.status.over)
    return maker


def test_keys_of_a_program_are_not_there_for_the_next_one(line: Node) -> None:
    maker = maker_now(line, "begins")
    assert found_by(line, "before", "find")["keys"] == []
    assert {"of the user", "of sessions"} <= set(found_by(line, "leaves", "keys")["keys"])
    assert found_by(line, "after", "find")["keys"] == []
    assert maker_now(line, "goes-on") == maker


@pytest.mark.parametrize("what", ["keys", "closed", "settings"])
def test_nothing_is_left_either_for_a_program_whose_box_was_made_meanwhile(line: Node, what: str) -> None:
    finds = leaving(line, "find")
    scripts = {"before": finds, "leaves": leaving(line, what), "behind": finds, "after": finds}
    jobs = ran_in_line(line, scripts)
    found = {tag: json.loads((job / "out").read_text()) for tag, job in jobs.items()}
    assert found["leaves"] != found["before"]
    assert found["behind"] == found["after"] == found["before"]


def test_files_and_memory_are_not_those_of_the_program_ahead(line: Node) -> None:
    leaves = "touch /tmp/left /dev/shm/left; ipcmk -M 9 >/dev/null; ipcmk -Q; setsid sleep 986 &"
    shows = "ls -A /tmp /dev/shm | grep left; ipcs | grep -c 0x; ls /proc | grep -c ^[0-9]"
    jobs = ran_in_line(line, {"leaves": f"{leaves} exit 0", "shows": f"{shows}; exit 0"})
    assert (jobs["shows"] / "out").read_text().split() == ["0", "4"]
    left = processes_of(jobs["leaves"].parent)
    assert not [pid for pid in left if is_there(pid)]


def test_a_box_that_was_made_for_another_is_not_used(line: Node) -> None:
    pid = started(line, "waits", "while [ ! -e go ]; do sleep 0.1; done")
    maker = maker_of(pid)
    line.begin("behind", "c-behind", "echo it ran >ran", after="c-waits")
    job = line.root / "attempts" / line.attempt("behind") / "job"
    line.want("c-behind", "behind 0 back")
    wait_until(lambda: line.status is not None and "c-behind" in line.status.refused)
    (line.root / "attempts" / line.attempt("waits") / "job" / "go").touch()
    wait_until(lambda: line.status is not None and "c-waits" in line.status.over)
    here = ran(line, "instead", "pwd; ls -A")
    assert (here / "out").read_text().split() == [str(here), "err", "out"]
    assert not (job / "ran").exists()
    assert maker_of(started(line, "goes-on", "sleep 600")) == maker


@pytest.mark.parametrize("what", ["closed", "settings"])
def test_a_maker_that_a_program_has_changed_makes_no_more_boxes(line: Node, what: str) -> None:
    maker, before = maker_now(line, "begins"), found_by(line, "before", "find")
    assert found_by(line, "leaves", what) != before
    assert found_by(line, "bubblewrap", "find") == before
    assert found_by(line, "lasting", "find") == before
    assert maker_now(line, "another") != maker


def test_standard_input_is_opened_in_the_box(line: Node) -> None:
    other = line.root / "attempts" / line.attempt("first")
    for tag, stdin in (("reads", f"{other}/job/secret"), ("up", ".."), ("root", "/")):
        line.begin(tag, f"c-{tag}", "cat; cat /proc/self/fd/0/secret; exit 0", stdin=stdin)
        wait_until(lambda tag=tag: line.status is not None and f"c-{tag}" in line.status.over)
        out = line.root / "attempts" / line.attempt(tag) / "job" / "out"
        assert not out.exists() or out.read_text() == ""
        assert line.failure_of(tag) == ("" if tag == "reads" else "download")
    line.begin("may", "c-may", "cat", stdin="/etc/passwd")
    wait_until(lambda: line.status is not None and line.status.over.get("c-may") == 0)
    found = line.root / "attempts" / line.attempt("may") / "job" / "out"
    assert found.read_bytes() == Path("/etc/passwd").read_bytes()


def test_settings_of_the_kernel_are_not_written_in_either_kind_of_box(lasting: Node) -> None:
    lasting.writes = ()
    lasting.start()
    lasting.renew(1)
    opens = "for name in kernel/core_pattern vm/swappiness; do true >>/proc/sys/$name && echo $name; done"
    for tag in ("bubblewrap", "lasting"):
        assert (ran(lasting, tag, f"{opens}; exit 0") / "out").read_text() == "", tag


def test_a_program_heeds_all_signals(line: Node) -> None:
    found = (ran(line, "signals", "grep -E ^Sig[BI] /proc/self/status; exit 0") / "out").read_text().split()
    assert found == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16]


def test_a_program_can_work_in_a_box_as_on_a_machine(line: Node) -> None:
    python = "import os, pty; pty.openpty(); os.mkdir('/tmp/x'); os.mkdir(os.environ['HOME'] + '/made')"
    ran(
        line,
        "works",
        f'mkdir -p $HOME && /usr/bin/python3 -c \\"{python}\\" && echo x >/dev/null && exit 7',
        7,
    )
    ran(line, "shell", "echo 'echo of the script; exit 4' >script; chmod 700 script; ./script", 4)
    ran(line, "killed", "kill -9 $$", 137)
    for tag in ("works", "shell", "killed"):
        assert "box_maker" not in (line.root / "attempts" / line.attempt(tag) / "job" / "err").read_text()


def test_a_box_ends_with_what_makes_it_and_the_line_goes_on(line: Node) -> None:
    pid = started(line, "long", "sleep 600")
    maker = maker_of(pid)
    os.kill(maker, signal.SIGKILL)
    wait_until(lambda: line.status is not None and line.status.over.get("c-long") == 137)
    assert not is_there(pid)
    ran(line, "next", "true")
    ran(line, "after-next", "true")
    again = maker_of(started(line, "again", "sleep 600"))
    assert again != maker


def test_what_makes_boxes_ends_with_the_process_that_wants_them(line: Node) -> None:
    pid = started(line, "long", "sleep 600")
    maker = maker_of(pid)
    os.kill(line.minder("c-long")[0], signal.SIGKILL)
    wait_until(lambda: not is_there(maker) and not is_there(pid))
    wait_until(lambda: line.status is not None and line.status.over.get("c-long") == 137)
    ran(line, "next", "true")


def test_who_has_no_mark_is_found_by_that_of_its_box(line: Node) -> None:
    pid = started(line, "hides", "exec env -i sleep 600")
    wait_until(lambda: (line.root / "attempts" / line.attempt("hides") / "beat").exists(), 30)
    line.want("c-hides", "hides 0 end")
    wait_until(lambda: not is_there(pid), 30)
    wait_until(lambda: line.status is not None and "c-hides" in line.status.over)
    assert line.failure_of("hides") == "killed"


def test_what_the_archive_compiles_to_is_beside_it_and_is_what_makes_boxes(line: Node) -> None:
    (compiled,) = (line.root / "programs").glob("boxing.*")
    assert {one.rpartition(".")[2] for one in ZipFile(compiled).namelist()} == {"pyc"}
    # Who has no archive has that.
    (line.root / "programs" / "boxing").unlink()
    os.kill(maker_of(started(line, "long", "sleep 600")), signal.SIGKILL)
    ran(line, "next", "true")
    ran(line, "after-next", "true")
    maker_of(started(line, "again", "sleep 600"))


@pytest.mark.parametrize("case", ["read", "unread", "gone"])
def test_a_maker_that_is_killed_as_a_program_begins_has_it_run_once_or_not_at_all(case: str) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    waits, gate = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(waits)
        theirs.recv(9)
        theirs.send(b"ready")
        theirs.recv(9)
        theirs.sendmsg([b"made"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", gate))])
        if case == "unread":  # then the kernel reports an error instead of an end
            select.select([theirs], [], [])
        os._exit(0)
    theirs.close()
    os.close(gate)
    link = MakerLink(ours)
    assert link.order(b"order", struct.pack("i", waits))
    if case == "gone":
        os.close(waits)
        with pytest.raises(BrokenPipeError):
            link.begin(b"begin")
        link.close()
    else:
        box = MadeBox(link, *link.begin(b"begin"))
        assert box.pid == pid, "no pid of the glidein, nor 0, which is its session"
        assert os.read(waits, 9) == b"."
        assert box.is_over(None)
        assert box.wait() == (137, None)
        assert not link.order(b"order", struct.pack("i", waits))
        os.close(waits)
        link.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, 0)


def test_a_program_that_another_has_taken_the_turn_of_does_not_begin() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    pipes = [os.pipe() for _ in range(2)]
    theirs.send(b"ready")
    link = MakerLink(ours)
    for waits, gate in pipes:
        assert link.order(b"order", struct.pack("i", waits))
        theirs.sendmsg([b"made"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", gate))])
        os.close(gate)
    link.begin(b"begin")
    assert [os.read(waits, 9) for waits, _ in pipes] == [b"", b"."]
    for waits, _ in pipes:
        os.close(waits)
    ours.close()
    theirs.close()



def test_words_that_are_not_known_leave_boxes_to_bubblewrap() -> None:
    assert steps_of(WORDS, HERE) == [("--proc", "", "/proc"), ("--ro-bind", "/usr", "/usr")]
    for change in (["--share-net"], ["--cap-drop", "CAP_KILL"], ["--bind", f"{HERE}/job", "/elsewhere"]):
        assert steps_of([*change, *WORDS], HERE) is None, change
    assert steps_of(WORDS[:6], HERE) is None
    assert steps_of([word for word in WORDS if "scratch" not in word], HERE) is None
    settings = ["--ro-bind", "/proc/sys", "/proc/sys"]
    assert steps_of([*settings, *WORDS], HERE) == steps_of(WORDS, HERE), "of a box they are read-only anyway"
