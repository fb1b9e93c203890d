"""A program whose process waits begins when it is told to, and not before, as if it had just been started."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.worker.scripts.payloads.waiting_program import WaitingProgram


@pytest.fixture(autouse=True)
def ignored() -> Iterator[None]:
    """This process does not heed a signal, as the maker of boxes."""
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGUSR1, before)


def waiting(words: list[str], folder: Path) -> WaitingProgram:
    """A program with what it writes in `out` and `err` of a folder."""
    files = [os.open(os.devnull, os.O_RDONLY)]
    files += [os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600) for name in ("out", "err")]
    try:
        return WaitingProgram(words, {"PATH": os.defpath, "WORD": "é"}, files, (signal.SIGUSR1,))
    finally:
        for file in files:
            os.close(file)


def ended(program: WaitingProgram) -> int:
    """Have it begin; its exit status."""
    os.write(program.gate, b".")
    os.close(program.gate)
    return os.waitstatus_to_exitcode(os.waitpid(program.pid, 0)[1])


@pytest.mark.parametrize(
    ("content", "mode", "status", "out", "err"),
    [
        ("#!/bin/sh\necho $1 $WORD; exit 3", 0o700, 3, "a  b é", ""),
        ("echo of the shell $1; exit 4", 0o700, 4, "of the shell a  b", ""),
        ("#!/bin/sh\nkill -s USR1 $$; sleep 600", 0o700, -signal.SIGUSR1, "", ""),
        ("#!/nowhere/to/be/found\n", 0o700, 127, "", "No such file or directory"),
        ("#!/bin/sh\necho it ran", 0o600, 126, "", "Permission denied"),
        ("echo it ran", 0o600, 126, "", "Permission denied"),
        (None, 0, 127, "", "No such file or directory"),
    ],
)
def test_it_ends_as_a_program_that_was_just_started(
    tmp_path: Path, content: str | None, mode: int, status: int, out: str, err: str
) -> None:
    program = tmp_path / "a program"
    if content is not None:
        program.write_text(content)
        program.chmod(mode)
    assert ended(waiting([str(program), "a  b"], tmp_path)) == status
    assert (tmp_path / "out").read_text().strip() == out.replace("a  b", "a b")
    said = (tmp_path / "err").read_text()
    assert said == (f"box: {program}: {err}\n" if err else "")


def test_a_folder_is_no_program(tmp_path: Path) -> None:
    assert ended(waiting([str(tmp_path)], tmp_path)) == 126
    assert "Permission denied" in (tmp_path / "err").read_text()


def test_it_leads_a_session_and_has_no_files_but_its_own(tmp_path: Path) -> None:
    text = 'cut -d " " -f 6 /proc/$$/stat; '
    text += 'cd /proc/$$/fd; for file in 0 1 2 *; do readlink $file; done; exit 0'
    program = waiting(["/bin/sh", "-c", text], tmp_path)
    gate = f"pipe:[{os.fstat(program.gate).st_ino}]"
    assert ended(program) == 0
    session, *files = (tmp_path / "out").read_text().split()
    assert session == str(program.pid)
    assert files[:3] == [os.devnull, str(tmp_path / "out"), str(tmp_path / "err")]
    assert gate not in files, "of what it waited for nothing is left"


def test_it_does_not_begin_when_nobody_can_tell_it_to_any_more(tmp_path: Path) -> None:
    program = waiting(["/bin/echo", "it ran"], tmp_path)
    for number in (signal.SIGUSR1, signal.SIGSTOP, signal.SIGCONT):
        os.kill(program.pid, number)
    os.close(program.gate)
    process = os.pidfd_open(program.pid)
    assert select.select([process], [], [], 0.3)[0] == []
    os.close(process)
    os.kill(program.pid, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(program.pid, 0)[1]) == -signal.SIGKILL
    assert (tmp_path / "out").read_text() == ""
