"""What was found at a host, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import units
from app.widgets.state_style import StateShape

if TYPE_CHECKING:
    from broker_core.wire.sites import Detection, QueueFound, SystemFound

Fact = tuple[StateShape, str, str, str]
"""Shape, colour token, name and what was found."""
_YES, _NO, _OPEN = (StateShape.CHECK, "positive"), (StateShape.BAR, "muted"), (StateShape.QUESTION, "muted")
_NAMED = 4


def facts(found: Detection) -> list[Fact]:
    """Return what is worth knowing beside the batch systems; a grid site lets nobody look at its hosts."""
    if found.systems and all(one.kind == "arc" for one in found.systems):
        names = ("MPI", "Python", "Outbound connections", "Software")
        return [(*_OPEN, name, "not known: a grid site shows its queues only") for name in names]
    return [
        _listed("MPI", found.mpi, "none found: jobs over several nodes bring their own"),
        (*_YES, "Python", found.python) if found.python else (*_NO, "Python", "none found"),
        _shared(found.shared),
        _outbound(found.outbound),
        _listed("Software", found.modules, "no modules found"),
    ]


def _listed(name: str, found: list[str], none: str) -> Fact:
    if not found:
        return (*_NO, name, none)
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    return (*_YES, name, ", ".join(found[:_NAMED]) + more)


def _shared(shared: bool | None) -> Fact:
    name = "Shared file system"
    if shared is None:
        return (*_OPEN, name, "the test job finds out")
    return (*_YES, name, "yes") if shared else (*_NO, name, "no: files travel with each job")


def _outbound(outbound: bool | None) -> Fact:
    name = "Outbound connections"
    if outbound is None:
        return (*_OPEN, name, "not known")
    return (*_YES, name, "yes") if outbound else (*_NO, name, "no: files are brought by SSH")


def system_words(system: SystemFound) -> str:
    """Name a batch system with its size: `Slurm 22.05: 3 queues, 96 CPUs`."""
    name = f"{system.title} {system.version}".strip()
    if system.trouble:
        return f"{name}: {system.trouble}"
    if not system.queues:
        return name
    most = max(one.total_cpus for one in system.queues)
    return f"{name}: {units.count(len(system.queues), 'queue')}, up to {units.count(most, 'CPU')}"


def queue_words(queue: QueueFound) -> str:
    """Say what a queue has: `24 of 96 CPUs free · at most 2 d · 4.0 GiB a node`."""
    parts = [f"{queue.free_cpus:,} of {units.count(queue.total_cpus, 'CPU')} free"]
    if queue.wall_limit:
        parts.append(f"at most {units.duration(queue.wall_limit)}")
    if queue.memory:
        parts.append(f"{units.size(queue.memory * 2**20)} a node")
    if queue.default:
        parts.append("default")
    return "closed now" if not queue.open else "  ·  ".join(parts)


def headline(found: Detection) -> str:
    """Say what was found in one sentence."""
    usable = [one for one in found.systems if not one.trouble]
    where = f" at {found.host}" if found.host else ""
    if not usable:
        return f"Nothing that can run jobs was found{where}."
    if usable[0].kind == "shell":
        return f"{found.host or 'It'} is a plain host without a batch system."
    return f"{usable[0].title} was found{where}."
