"""A pretended cluster of one node, kept in a file between two commands; its jobs really run.

Each command is a process of its own that lives for milliseconds, so it imports little.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

FOLDER = "CROSSDESK_SIMULATED"
"""Environment variable of the commands with the cluster's folder."""
CPUS = 4
NODE = "node1"
QUEUES = ("work", "short")
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))


class Refused(Exception):
    """A command ends with these words and this status."""

    def __init__(self, words: str, status: int = 1) -> None:
        super().__init__(words)
        self.status = status


class Job:
    """A job, or one task of an array."""

    def __init__(self, *, name: str, queue: str, cpus: int, script: str, held: bool, folder: str,
                 variables: dict[str, str], task: int | None = None, tasks: int = 1) -> None:  # fmt: skip
        """`script`: text for /bin/sh."""
        self.number = 0
        self.task, self.tasks, self.name, self.queue, self.cpus = task, tasks, name, queue, cpus
        self.script, self.variables, self.folder = script, variables, folder
        self.state = "held" if held else "queued"
        """`held`, `queued`, `running`, or gone from the list."""
        self.pid = 0
        self.born = ""
        self.ending = False

    def start(self) -> None:
        """Run it as a session of its own."""
        self.pid = os.fork()
        if self.pid == 0:
            _detach()
            os.chdir(self.folder)
            os.execve("/bin/sh", ["sh", "-c", self.script], self.variables)
        self.state, self.born = "running", _born(self.pid)

    def signal(self, number: int) -> None:
        """To its process group, if it is there."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    @property
    def alive(self) -> bool:
        """Its first process is there."""
        return bool(self.born) and _born(self.pid) == self.born


class Cluster:
    """What the commands know, for one command at a time."""

    def __enter__(self) -> Cluster:
        self._lock = os.open(self._path("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.last: int = 0
        self.jobs: list[Job] = []
        if os.path.exists(self._path("state")):
            with open(self._path("state")) as state:
                self.last, *kept = json.load(state)
            for values in kept:
                job = Job.__new__(Job)
                job.__dict__.update(values)
                self.jobs.append(job)
        self.tick()
        return self

    def __exit__(self, *error: object) -> None:
        self.tick()
        with open(self._path("state"), "w") as state:
            json.dump([self.last, *(job.__dict__ for job in self.jobs)], state)
        os.close(self._lock)

    def _path(self, name: str) -> str:
        return os.path.join(os.environ[FOLDER], name)

    def add(self, jobs: Sequence[Job]) -> int:
        """Take new jobs under the next number."""
        self.last += 1
        for job in jobs:
            job.number = self.last
        self.jobs += jobs
        return self.last

    def tick(self) -> None:
        """Forget what has ended, and start what fits, first come first served."""
        self.jobs = [job for job in self.jobs if job.state != "running" or job.alive]
        for job in self.jobs:
            if job.state == "queued":
                if job.cpus > self.free:
                    break
                job.start()

    @property
    def free(self) -> int:
        """Processors that no job has."""
        return CPUS - sum(job.cpus for job in self.jobs if job.state == "running")

    def end(self, job: Job) -> None:
        """Remove a job that waits; one that runs is asked to end, and killed five seconds later."""
        if job.state != "running":
            self.jobs.remove(job)
        elif not job.ending:
            job.ending = True
            job.signal(signal.SIGTERM)
            if os.fork() == 0:
                _detach()
                pause = select.poll()
                for _ in range(50):
                    if job.alive:
                        pause.poll(100)
                job.signal(signal.SIGKILL)
                os._exit(0)

    def count(self, state: str, queue: str | None = None) -> int:
        """Jobs in a state."""
        return sum(1 for job in self.jobs if job.state == state and queue in (None, job.queue))


def _detach() -> None:
    """A session of its own, with nothing of the command's files."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.closerange(3, 100)


def _born(pid: int) -> str:
    """Start time; empty where there is no process any more."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def install(folder: Path, module: str, commands: Sequence[str], more: Mapping[str, str]) -> dict[str, str]:
    """Make commands of a module of this package; returns the environment that finds them."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for name in commands:
        path = programs / name
        path.write_text(
            f'#!/bin/sh\nPYTHONPATH={_ROOT} exec {sys.executable} -S {_HERE}/{module}.py {name} "$@"\n'
        )
        path.chmod(0o755)
    return {FOLDER: str(folder), "PATH": f"{programs}:{os.environ['PATH']}", **more}


def command_line(commands: Mapping[str, Callable[[list[str]], str]]) -> None:
    """Run the command that the first word names."""
    try:
        sys.stdout.write(commands[sys.argv[1]](sys.argv[2:]))
    except Refused as refused:
        sys.stderr.write(f"{refused}\n")
        sys.exit(refused.status)


def options(words: list[str], with_value: str, without: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Options in order, and the other words; raises Refused for an option that there is not."""
    found: list[tuple[str, str]] = []
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in with_value.split():
            if not left:
                raise Refused(f"option requires an argument -- '{word}'", 2)
            found.append((word, left.pop(0)))
        elif word in without.split():
            found.append((word, ""))
        elif word.startswith("-") and word != "-":
            raise Refused(f"invalid option -- '{word}'", 2)
        else:
            rest.append(word)
            rest += left
            break
    return found, rest
