"""What runs where, as values: computing elements, their share of a job, and the components of an attempt.

The text forms of these values (ids, the `site` column, tags) are read and written here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache

from broker_core.jobs.immutable import immutable

SLOT_SYSTEM = "slots"
"""Stands in the ids of virtual slots where those of queues name the batch system."""
THIS_MACHINE = "localhost"
"""Host part of the computing elements of this machine: no other site can be called so."""
_BETWEEN = ", "
"""Stands between the ids of several computing elements in one text."""


@immutable
class ComputingElement:
    """A queue of a site, by its id `host:port/jobmanager-system-queue` (GlueCEUniqueID, CB-CACHE-01)."""

    id: str
    """As published."""
    host: str = field(compare=False)
    """What stands before the port."""
    site: str = field(compare=False)
    """Name of the site among those of the broker: the host, or the queue of this machine."""
    system: str = field(compare=False)
    """Batch system, e.g. `slurm`; empty for an id of another form."""
    queue: str = field(compare=False)
    """Queue of the batch system; empty for an id of another form."""

    @property
    def here(self) -> bool:
        """True for this machine."""
        return self.host == THIS_MACHINE

    @property
    def identity(self) -> str:
        """What tells computing elements apart: the case of a host's name does not."""
        return self.host.lower() + self.id[len(self.host) :]


@lru_cache(maxsize=65536)
def computing_element(id: str) -> ComputingElement:
    """Read the id of a computing element. Any text is one; what it does not say is empty.

    `ce.example.org:2119/jobmanager-pbs-long` is of the site `ce.example.org`,
    `localhost:2119/jobmanager-fork-local` of the site `local`.
    """
    host, _, rest = id.partition(":")
    _, found, end = rest.rpartition("/jobmanager-")
    system, _, queue = end.partition("-") if found else ("", "", "")
    site = (rest.rpartition("-")[2] or id) if host == THIS_MACHINE else host
    return ComputingElement(id, host, site, system, queue)


def slots_at(ce: str) -> str:
    """Id of the virtual slots at a queue, which are a computing element of their own."""
    known = computing_element(ce)
    return ce.replace(f"/jobmanager-{known.system}-", f"/jobmanager-{SLOT_SYSTEM}-")


NOWHERE = computing_element("")
"""Computing element of what has none."""


@immutable
class Placement:
    """Processors of one computing element that are given to a job."""

    ce: ComputingElement
    cpus: int


@immutable
class Component:
    """One component of one attempt to run a job: what one site runs."""

    job: str
    attempt: int
    """From 1; an older attempt can only end itself (reliability case 11)."""
    index: int = 0
    """Number of the component, which is that of its placement; 0 where the attempt is at one site."""

    @property
    def tag(self) -> str:
        """The unique name under which the site knows it, e.g. in a batch job's name."""
        return f"{self.job}.{self.attempt}.{self.index}" if self.index else f"{self.job}.{self.attempt}"


def component(tag: str) -> Component | None:
    """The component of a tag; None for a text that is none. Ids of jobs have no dot."""
    job, *numbers = tag.split(".")
    if not job or not 1 <= len(numbers) <= 2 or not all(number.isdecimal() for number in numbers):
        return None
    return Component(job, *map(int, numbers))


@lru_cache(maxsize=4096)
def shared(ids: tuple[str, ...], cpus: int) -> tuple[Placement, ...]:
    """A job's processors on these computing elements, as equal as can be.

    Events and rows name the computing elements alone, not what each of a set was given.
    """
    count = len(ids)
    return tuple(
        Placement(computing_element(id), cpus // count + (index < cpus % count))
        for index, id in enumerate(ids)
    )


def column(placements: tuple[Placement, ...]) -> str:
    """The ids of placements as one text: the `site` column of the store and on the wire."""
    if len(placements) == 1:
        return placements[0].ce.id
    return _BETWEEN.join(one.ce.id for one in placements)


def ids_in(text: str) -> tuple[str, ...]:
    """The ids of computing elements in such a text."""
    return tuple(text.split(_BETWEEN)) if text else ()


def listed(ids: Iterable[str]) -> str:
    """Ids of computing elements for people."""
    return _BETWEEN.join(ids)
