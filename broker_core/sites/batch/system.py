"""What tells one batch system from another: its commands as shell text, and how their output is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.sites.adapter import AttemptStatus


@dataclass(frozen=True, slots=True)
class BatchJob:
    """What a batch system is told: one attempt, or an array of attempts with equal needs."""

    name: str
    """Unique; begins with the broker's mark, letters, digits, `_`, `-` and `.` only."""
    script: str
    """Absolute path of the POSIX shell script to run."""
    cpus: int
    queue: str
    wall_limit: float | None = None
    """Seconds, with what staging takes; None: the queue's default."""
    memory: int = 0
    """MiB for each CPU; 0: the queue's default."""
    count: int = 1
    """Tasks of an array, numbered from 0; 1: no array."""
    options: tuple[str, ...] = ()
    """Words of the site's settings, e.g. an account."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One job or array task of the batch system's list."""

    id: str
    """As `release` and `cancel` take it; an array task carries its number: `123_4`."""
    name: str
    seen: AttemptStatus
    reason: str = ""
    node: str = ""
    task: int | None = None
    """Number of the array task; None: no array."""
    hopeless: bool = False
    """It waits for what will never be, by the batch system's word."""


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue (partition) as the batch system describes it; counts of CPUs."""

    name: str
    total: int
    free: int
    running_jobs: int
    waiting_jobs: int
    wall_limit: float | None = None
    """Seconds."""
    memory: int = 0
    """MiB of the smallest node."""
    open: bool = True
    """It takes jobs."""
    default: bool = False
    most_tasks: int | None = None
    """Tasks that one array may have; 1: no arrays, None: not told."""


class BatchSystem(Protocol):
    """One batch system. Texts are POSIX shell commands; every value in them is quoted by the system."""

    kind: str
    title: str
    """For people: `Slurm`."""
    holds: bool
    """It can keep a submitted job from starting until it is released."""
    task_variable: str
    """Environment variable with the number of an array task; empty: no arrays."""
    first_task: int
    """Number that the batch system gives to the first task of an array."""

    def submit(self, job: BatchJob) -> str:
        """Command that hands one job over, held where it can; exit status 0 means that it was taken.

        No restart by the batch system, no mail, no files of its own outside the script's directory.
        """
        ...

    def submitted(self, out: str) -> str:
        """The id in what `submit` printed; raises ValueError."""
        ...

    def release(self, ids: Sequence[str]) -> str:
        """Command that lets held jobs go; released or ended ones are no error."""
        ...

    def cancel(self, ids: Sequence[str]) -> str:
        """Command that ends jobs, waiting or running; ended ones are no error."""
        ...

    def status(self, mark: str) -> str:
        """Command that lists all jobs of this account whose names begin with `mark`."""
        ...

    def listed(self, out: str) -> list[Listed]:
        """What `status` printed; raises ValueError where it is no such list."""
        ...

    def queues(self) -> str:
        """Command that describes the queues."""
        ...

    def described(self, out: str) -> list[Queue]:
        """What `queues` printed; raises ValueError."""
        ...

    def detect(self) -> str:
        """Command that ends with 0 where this batch system is in use, and prints its version."""
        ...
