"""What a job asks of a site's batch system besides CPUs and time, and which systems can give it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

_SUPPORTED: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "slurm": "HostNumber WholeNodes GPUNumber GPUModel ScratchSize "
        "Account QOS Features Licenses Reservation",
        "sge": "HostNumber WholeNodes GPUNumber Account Features Licenses Reservation",
        "pbs": "HostNumber WholeNodes GPUNumber Account",
        "lsf": "HostNumber WholeNodes GPUNumber GPUModel ScratchSize Account Features Licenses Reservation",
        "condor": "GPUNumber GPUModel ScratchSize Account Licenses",
        "arc": "HostNumber WholeNodes",
        "shell": "GPUNumber GPUModel",
        "fork": "GPUNumber GPUModel",
    }.items()
}
"""Kind of batch system to the attributes that its submission can carry. Memory counts everywhere: where
nothing limits it, a node that has enough of it is chosen."""
_FIELDS: Mapping[str, str] = {
    "HostNumber": "hosts",
    "WholeNodes": "whole_nodes",
    "GPUNumber": "gpus",
    "GPUModel": "gpu_model",
    "ScratchSize": "scratch",
    "Account": "account",
    "QOS": "qos",
    "Features": "features",
    "Licenses": "licenses",
    "Reservation": "reservation",
}
"""Attribute to the field of a request that holds it, of those that not every batch system can carry."""
_BY_WORDS: Mapping[tuple[str, str], re.Pattern[str]] = {
    ("pbs", "GPUModel"): re.compile(r":?(gpu_type|gpu_model|gputype)=", re.IGNORECASE),
    ("pbs", "ScratchSize"): re.compile(r":?(jobfs|tmpspace|local_scratch)=", re.IGNORECASE),
    ("pbs", "Features"): re.compile(r":[^=]+$|feature="),
    ("pbs", "QOS"): re.compile("qos="),
    ("pbs", "Reservation"): re.compile("advres="),
    ("sge", "GPUModel"): re.compile(r"(gpu_type|gpu_model|cuda_name)=", re.IGNORECASE),
    ("sge", "ScratchSize"): re.compile(r"(tmpfs|tmp_free|tmpspace|scratch)=", re.IGNORECASE),
}
"""Kind and attribute to the words of `BatchOptions` that ask a site for it in the terms of its own: by them a
job has there what the kind as such cannot carry."""
BATCH_SYSTEMS = ("slurm", "pbs", "sge", "lsf", "condor")
"""Kinds for which `BatchOptions` can have words, and `NamesOf` names."""
SITE_NAMES = ("QueueName", "Account", "QOS", "Reservation")
"""Attributes whose values each site gives, so that they may mean nothing at another one."""


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """Nodes, memory, GPUs, accounts and words of one description; sizes are in MB."""

    hosts: int = 0
    """Nodes over which the CPUs are spread evenly; 0: the batch system may scatter them."""
    mpi: bool = False
    """The CPUs are for processes that a launcher starts; else for one program."""
    whole_nodes: bool = False
    gpus: int = 0
    """On each node."""
    gpu_model: str = ""
    memory_per_node: int = 0
    memory_per_cpu: int = 0
    scratch: int = 0
    """On each node."""
    account: str = ""
    qos: str = ""
    features: tuple[str, ...] = ()
    licenses: tuple[tuple[str, int], ...] = ()
    """Name and count."""
    reservation: str = ""
    queue: str = ""
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Kind of batch system, and words for its submission command."""
    ignore_unsupported: bool = False
    names_of: str = ""
    """The only kind of batch system whose sites know the names of SITE_NAMES, those that have them; the job
    runs without them elsewhere. Empty: they count everywhere."""

    def names_count_at(self, kind: str) -> bool:
        """True if accounts and the like are asked for at sites of a kind."""
        return self.names_of in ("", kind)

    @property
    def scattered(self) -> bool:
        """True if the CPUs of one program may be those of any nodes."""
        return not self.hosts and not self.mpi

    def gathers_at(self, kind: str) -> bool:
        """True if a kind of batch system gives one node to a program whose CPUs may be scattered."""
        return self.scattered and "HostNumber" not in _SUPPORTED.get(kind, {"HostNumber"})

    def cpus_on_host(self, cpus: int) -> int:
        """Of a job's CPUs the most that one node has to give; 1 where they may be scattered."""
        return -(-cpus // self.hosts) if self.hosts else 1

    def memory_on_host(self, cpus: int) -> int:
        """MB that the node with the most CPUs has to give; 0: nothing is said."""
        return self.memory_per_node or self.memory_per_cpu * self.cpus_on_host(cpus)

    def memory_of_cpu(self, cpus: int) -> int:
        """MB for each CPU, rounded up; 0: nothing is said."""
        return self.memory_per_cpu or -(-self.memory_per_node // self.cpus_on_host(cpus))

    def split(self, cpus: int) -> list[tuple[int, int]]:
        """Numbers of nodes with the CPUs on each of them, the fuller ones first; nothing where scattered."""
        if not self.hosts:
            return []
        least, more = divmod(cpus, self.hosts)
        return [(count, each) for count, each in ((more, least + 1), (self.hosts - more, least)) if count]

    def words(self, kind: str) -> tuple[str, ...]:
        """What `BatchOptions` has for one kind of batch system."""
        return dict(self.options).get(kind, ())

    def given(self) -> dict[str, bool]:
        """Attribute to whether the job asks for it, of those that not every batch system can carry."""
        asked = {name: bool(getattr(self, field)) for name, field in _FIELDS.items()}
        return asked | {"HostNumber": self.hosts > 1}

    def unsupported(self, kind: str) -> list[str]:
        """Attributes that are asked for and cannot be carried; a kind that is not known carries all."""
        able = _SUPPORTED.get(kind)
        if able is None:
            return []
        foreign = () if self.names_count_at(kind) else SITE_NAMES
        asked = [name for name, asked in self.given().items() if asked and name not in foreign]
        lacking = [name for name in asked if name not in able]
        return [name for name in lacking if not self.by_words(kind, name)]

    def by_words(self, kind: str, attribute: str) -> bool:
        """True if words of `BatchOptions` ask a kind for it: the site knows best whether it has it."""
        known = _BY_WORDS.get((kind, attribute))
        return known is not None and any(known.match(word) for word in self.words(kind))

    def carried_by(self, kind: str) -> ResourceRequest:
        """The same without what this kind of batch system cannot give."""
        foreign = [] if self.names_count_at(kind) else [name for name in SITE_NAMES if name in _FIELDS]
        return self.without([*self.unsupported(kind), *foreign])

    def without(self, attributes: Iterable[str]) -> ResourceRequest:
        """The same without what some of the attributes ask for that not every batch system can carry."""
        left_out = {_FIELDS[name]: _NOTHING[_FIELDS[name]] for name in attributes}
        return replace(self, **left_out) if left_out else self  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class SiteChoice:
    """Where a job may run by name; texts are in lower case, and empty ones leave it open."""

    sites: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()
    """Sites that are not used."""
    elements: tuple[str, ...] = ()
    """Computing elements, by id or host."""
    batch_system: str = ""
    """One of `BATCH_SYSTEMS`."""
    tags: tuple[str, ...] = ()
    """Run-time tags, all of which the resource shows."""


ANYWHERE = SiteChoice()
"""A job that names no sites."""
NOTHING = ResourceRequest()
"""A job that asks for nothing but CPUs."""
_NOTHING: Mapping[str, object] = {name: getattr(NOTHING, name) for name in _FIELDS.values()} | {"hosts": 1}


def same_model(wanted: str, name: str) -> bool:
    """True if `wanted` is a shorter name of a GPU model: `A100` of `nvidia_a100-sxm4-80gb`, `a10` not."""
    return f" {model_words(wanted)} " in f" {model_words(name)} "


def model_words(name: str) -> str:
    """The words of the name of a GPU model, in small letters with one blank between them."""
    return " ".join("".join(one if one.isalnum() else " " for one in name.lower()).split())
