"""The warm agent of a glidein: loaded already, it becomes the agent of each interactive job (CB-GLI-02).

The Job Starter runs `warm_start.sh` in place of an agent. That one leaves a pipe in the folder of the warm
agent, named after its pid, and rings; a copy of this process takes from /proc all that a program gets at its
start, runs the agent, and sends back how it ended. A pipe that was renamed is taken: `warm_start.sh` renames
it too where nobody answers, and then starts a fresh agent.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import select
import signal
from pathlib import Path

from broker_core.worker import agent
from broker_core.worker.boxing.control_groups import join_group_of

WARM = "--warm"
"""First word of an agent that is to wait for jobs; a folder and the pid of the glidein follow."""
BELL = "bell"
"""Pipe in the folder, into which pids are written, one a line."""
_PACE = 0.04
"""Seconds between two looks at the claims of the glidein; it is woken when they have changed."""
_FOR_THE_AGENT = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""What comes to all processes of a batch job."""
_STREAMS = ((5, 0, os.O_RDONLY), (1, 1, os.O_WRONLY | os.O_APPEND), (2, 2, os.O_WRONLY | os.O_APPEND))
"""Descriptor of the process in whose place an agent runs, that of the agent, and how it is opened."""


def wait_for_jobs(folder: Path, glidein: int) -> int:
    """Serve the glidein that started this process, as long as that lives; returns the exit code.

    `folder`: in the directory of the glidein, beside its claims.
    """
    agent.load()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that serve
    bell = folder / BELL
    bell.unlink(missing_ok=True)
    os.mkfifo(bell, 0o600)
    rings = os.open(bell, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    claims = ClaimWatch(folder.parent)
    while os.getppid() == glidein:
        if select.select([rings], [], [], _PACE)[0]:
            for word in filter(bytes.isdigit, os.read(rings, select.PIPE_BUF).split()):
                _serve(folder, int(word), rings)
        if claims.has_news():
            os.kill(glidein, signal.SIGUSR1)
    return 0


class ClaimWatch:
    """Finds news in the claims of a glidein that it is to hear of at once."""

    def __init__(self, own: Path) -> None:
        """`own`: directory of the glidein."""
        self._own, self._folder = str(own), f"{own}/claims"
        self._changed = 0
        self._known: dict[str, int] = {}
        """Claim to the number of its file, which is another one each time that it is written."""

    def has_news(self) -> bool:
        """True if some were written since the last call. What waits in line is looked for by whoever runs the
        one ahead of it."""
        changed = os.stat(self._folder).st_mtime_ns
        if changed == self._changed:
            return False
        with os.scandir(self._folder) as found:
            now = {one.name: one.inode() for one in found if not one.name.startswith(".")}
        fresh = [name for name, number in now.items() if self._known.get(name) != number]
        self._changed, self._known = changed, now
        return not all(map(self._waits_in_line, fresh))

    def _waits_in_line(self, claim: str) -> bool:
        try:
            with open(f"{self._folder}/{claim}") as file:
                words = file.read().split()
        except FileNotFoundError:
            return True  # it is over
        return len(words) == 4 and words[2] == "run" and not self._is_over(words[3])

    def _is_over(self, claim: str) -> bool:
        return any(map(os.path.exists, (f"{self._own}/taken/{claim}/exit", f"{self._own}/past/{claim}")))


def _serve(folder: Path, pid: int, rings: int) -> None:
    """Have a copy of this process run the agent of one job; where there is none a fresh agent does."""
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            try:
                os.close(rings)
                _answer(folder, pid)
            finally:
                os._exit(0)


def _answer(folder: Path, pid: int) -> None:
    """Be to process `pid` what a program would be that it became."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in _FOR_THE_AGENT:
        signal.signal(number, signal.SIG_IGN)
    call = folder / str(pid)
    answer = os.open(call, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    call.rename(f"{call}.taken")
    try:
        words = _become(folder, pid)
        life, held = os.pipe()
        child = os.fork()
    except (OSError, ValueError):
        os.write(answer, b"late\n")
        return
    if child == 0:
        os.close(answer)
        os.close(life)
        for number in _FOR_THE_AGENT:
            signal.signal(number, signal.SIG_DFL)
        _run(words)
    os.close(held)
    os.write(answer, f"taken {child}\n".encode())
    _await_end(child, life, answer)
    _, status, usage = os.wait4(child, 0)
    code, spent = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
    word = f"signal {-code}" if code < 0 else f"exit {code}"
    with contextlib.suppress(BrokenPipeError):
        os.write(answer, f"{word} {spent:.6f}\n".encode())


def _become(folder: Path, pid: int) -> list[str]:
    """Take over what process `pid` has; returns the words of the agent. Raises OSError and ValueError."""
    about = Path("/proc", str(pid))
    words = [os.fsdecode(word) for word in (about / "cmdline").read_bytes().split(b"\0")[:-1]]
    given = [one.partition(b"=")[::2] for one in (about / "environ").read_bytes().split(b"\0") if one]
    for theirs, number, way in _STREAMS:
        opened = os.open(about / "fd" / str(theirs), way)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(about / "cwd")
    resource.setrlimit(resource.RLIMIT_FSIZE, resource.prlimit(pid, resource.RLIMIT_FSIZE))
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, pid))
    join_group_of(pid)
    os.setsid()
    os.environ.clear()
    os.environb.update(given)
    return words[words.index(str(folder)) + 2 :]


def _run(words: list[str]) -> None:
    """Be the agent; does not return."""
    code = agent.NOT_RUN
    try:
        code = agent.main(words)
    finally:
        os._exit(code)


def _await_end(child: int, life: int, answer: int) -> None:
    """Return when the agent has ended; it does not outlive the process in whose place it runs."""
    ends = select.poll()
    ends.register(life, select.POLLIN)
    ends.register(answer, 0)
    while life not in {number for number, _ in ends.poll()}:
        os.kill(child, signal.SIGKILL)
        ends.unregister(answer)
