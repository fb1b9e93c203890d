"""Short names of computing elements, for people."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from broker_core.jobs.placement import SLOT_SYSTEM, computing_element, ids_in, listed

_SSH_PORT = 22


@lru_cache(maxsize=4096)
def site_name(ces: str) -> str:
    """Name the sites in the `site` column of a job's row: a host, or the queue of this machine.

    `ce.example.org:2119/jobmanager-pbs-long` gives `ce.example.org`;
    `localhost:2119/jobmanager-fork-local` gives `local`.
    """
    return site_names(ids_in(ces))


@lru_cache(maxsize=4096)
def site_names(ids: tuple[str, ...]) -> str:
    """Name the sites of computing elements, in their order, each once."""
    return listed(dict.fromkeys(computing_element(id).site for id in ids))


def element_words(ce: str) -> str:
    """Name a computing element for people: the id where it is an address, else what it stands for.

    The broker makes up the port in ids of this machine and of hosts that SSH has another port for.
    """
    element = computing_element(ce)
    if element.here:
        return "this machine"
    made_up = ce.startswith(f"{element.host}:{_SSH_PORT}/")
    return f"{element.host}, {queue_name(ce)}" if made_up else ce


def queue_name(ce: str) -> str:
    """Return what tells queues of one site apart: the part of the id behind the host."""
    _, slash, rest = ce.partition("/")
    queue = rest.removeprefix("jobmanager-")
    if queue.startswith(f"{SLOT_SYSTEM}-"):
        return f"slots of {queue.removeprefix(f'{SLOT_SYSTEM}-')}"
    return queue if slash else ce


def choice_words(ces: Iterable[str]) -> str:
    """Name the computing elements of one choice, one or those of a set, so that no two choices look alike."""
    return " and ".join(map(element_words, ces))
