"""A real broker process of a test, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.waiting import wait_until


def processes_of(directory: Path) -> set[int]:
    """Pids of live processes that work in `directory` or have it on their command line or in their
    environment; the caller and its ancestors are left out."""
    needle = os.fsencode(str(directory))
    mine = _ancestors()
    return {pid for pid in _pids() if pid not in mine and _belongs(pid, needle)}


def children() -> set[int]:
    """Pids of processes that this one started and whose end it has not taken."""
    found: set[int] = set()
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError):  # the thread has ended
            found.update(map(int, Path(f"/proc/self/task/{thread}/children").read_text().split()))
    return found


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _ancestors() -> set[int]:
    found, pid = set(), os.getpid()
    while pid > 1:
        found.add(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def _belongs(pid: int, needle: bytes) -> bool:
    process = Path(f"/proc/{pid}")
    try:
        if process.joinpath("stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z":
            return False
        if needle in os.fsencode(os.readlink(process / "cwd")):
            return True
        return needle in process.joinpath("cmdline").read_bytes() + process.joinpath("environ").read_bytes()
    except OSError:
        return False


def end_all(directory: Path) -> None:
    """Kill every process of `directory` and wait until none is left."""

    def none_left() -> bool:
        left = processes_of(directory)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return not left

    wait_until(none_left, what=f"processes of {directory} end")


class RunningBroker:
    """`python -m broker_core.broker.daemon` for one state directory."""

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True while the process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self, **environment: str) -> None:
        """Start it and wait until it answers."""
        log = self.state_dir.parent / f"{self.state_dir.name}.daemon.log"
        with log.open("ab") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "broker_core.broker.daemon", "--state-dir", str(self.state_dir)],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=os.environ | environment,
                start_new_session=True,
            )
        wait_until(lambda: self._answers(log), what="the broker answers")

    def _answers(self, log: Path) -> bool:
        from broker_core.client.start import answers

        assert self._process is not None
        if self._process.poll() is not None:
            told = log.read_text()[-4000:]
            raise AssertionError(f"the broker ended with {self._process.returncode}: {told}")
        return answers(self.state_dir)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the broker process only; its jobs go on."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def close(self) -> None:
        """End the broker and everything it started; fails if something stays."""
        try:
            self.kill()
        finally:
            end_all(self.state_dir)


def ended(pid: int) -> bool:
    """True where a process has ended, also if nobody has asked for its status yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
