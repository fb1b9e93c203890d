"""What tells one batch system from another: its commands as shell text, and how their output is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from broker_core.jdl.resource_request import NOTHING, ResourceRequest
from broker_core.resources.node_types import NodeType
from broker_core.sites.adapter import AttemptStatus, EndRecord


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
    count: int = 1
    """Tasks of an array, numbered from 0; 1: no array."""
    options: tuple[str, ...] = ()
    """Words of the site's settings, e.g. an account."""
    request: ResourceRequest = NOTHING
    """Nodes, memory, GPUs, accounts and the like: only what this batch system can carry."""
    title: str = ""
    """The user's name for the job, of letters, digits, `_` and `-`; empty: none."""

    @property
    def listed_name(self) -> str:
        """By which people find it in the batch system's list: what the user calls it, then the whole name."""
        return f"{self.title}.{self.name}" if self.title else self.name


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


@dataclass(frozen=True, slots=True)
class License:
    """A license of the site's, counted by the batch system."""

    name: str
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The nodes as the batch system describes them; what changes with every job is as of now."""

    types: Mapping[str, Sequence[NodeType]] = field(default_factory=dict)
    """Queue to its nodes; those under the empty name belong to all queues that are not named."""
    licenses: Sequence[License] | None = None
    """None: the batch system counts none."""
    foreseen_waits: Mapping[str, float] = field(default_factory=dict)
    """Queue to the seconds until half of its waiting jobs will have started, where that is foreseen."""
    shared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Queue to the queues that have a node in common with it; see `sharing`. Names as of `types`."""

    def of(self, queue: str) -> Sequence[NodeType]:
        """Nodes of a queue."""
        return self.types.get(queue, self.types.get("", ()))

    def beside(self, queue: str, queues: Iterable[str]) -> list[str]:
        """Those of `queues` that are known to have a node in common with a queue."""
        mine = self.shared.get(self._named(queue), ())
        return [one for one in queues if one != queue and self._named(one) in mine]

    def _named(self, queue: str) -> str:
        return queue if queue in self.types else ""


def sharing(nodes: Iterable[Collection[str]]) -> dict[str, frozenset[str]]:
    """Queue to those that have a node in common with it, itself too. `nodes`: the queues of each node."""
    found: dict[str, frozenset[str]] = {}
    for queues in nodes:
        for queue in queues:
            found[queue] = found.get(queue, frozenset()).union(queues)
    return found


@dataclass(frozen=True, slots=True)
class Association:
    """One account (allocation, project) that this user may charge."""

    account: str
    queue: str = ""
    """The only queue where it counts; empty: all."""
    qos: tuple[str, ...] = ()
    default_qos: str = ""
    limits: str = ""
    """In words; empty: none."""


@dataclass(frozen=True, slots=True)
class QosLimits:
    """A quality of service with what it allows."""

    name: str
    wall_limit: float | None = None
    """Seconds that a job may take; None: no limit of its own."""
    limits: str = ""
    """All limits in words; empty: none."""


@dataclass(frozen=True, slots=True)
class QueueRules:
    """Who may use a queue, by the names of accounts and qualities of service; None: all."""

    accounts: frozenset[str] | None = None
    denied_accounts: frozenset[str] = frozenset()
    qos: frozenset[str] | None = None
    denied_qos: frozenset[str] = frozenset()

    def allows_account(self, name: str) -> bool:
        """True if jobs of the account may go there."""
        return name not in self.denied_accounts and (self.accounts is None or name in self.accounts)

    def allows_qos(self, name: str) -> bool:
        """True if jobs of the quality of service may go there."""
        return name not in self.denied_qos and (self.qos is None or name in self.qos)


@dataclass(frozen=True, slots=True)
class Entitlements:
    """What this user may charge and ask for; nothing is known where there are no associations."""

    associations: Sequence[Association] = ()
    default_account: str = ""
    qos: Sequence[QosLimits] = ()
    rules: Mapping[str, QueueRules] = field(default_factory=dict)
    """By queue."""
    reservations: Sequence[str] | None = None
    """Names of nodes that are kept for some users, as far as this one sees them; None: not told."""


class WithoutAccounts:
    """Half of a batch system that has no command which tells what a user may charge."""

    def accounts(self) -> str:
        """See `BatchSystem.accounts`."""
        return ""

    def entitlements(self, out: str) -> Entitlements:
        """Nothing is known."""
        return Entitlements()


@runtime_checkable
class StartForecaster(Protocol):
    """A batch system that says when a job would start, without taking it."""

    def forecast(self, job: BatchJob) -> str:
        """Command that asks when this job would start; nothing is submitted."""
        ...

    def forecast_wait(self, out: str) -> float:
        """Seconds until then, of what `forecast` printed; raises ValueError with its words for a refusal."""
        ...


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

    def end_records(self, ids: Sequence[str]) -> str:
        """Command that prints what was written down of the ends of jobs; ends with 0 though nothing was.

        Empty: there is no such command.
        """
        ...

    def read_end_records(self, out: str) -> Mapping[str, EndRecord]:
        """What `end_records` printed of jobs that are over, by id; what makes no sense is left out."""
        ...

    def queues(self) -> str:
        """Command that describes the queues."""
        ...

    def described(self, out: str) -> list[Queue]:
        """What `queues` printed; raises ValueError."""
        ...

    def nodes(self) -> str:
        """Command that describes nodes and licenses, asked each minute: it prints little and takes 0.1 s."""
        ...

    def node_report(self, out: str) -> NodeReport:
        """What `nodes` printed; raises ValueError."""
        ...

    def accounts(self) -> str:
        """Command that tells what this user may charge, asked each hour; empty: there is no such command."""
        ...

    def entitlements(self, out: str) -> Entitlements:
        """What `accounts` printed; raises ValueError."""
        ...

    def detect(self) -> str:
        """Command that ends with 0 where this batch system is in use, and prints its version."""
        ...
