"""How the processes of one component lie on the nodes of its site, and with how many proxies of MPICH."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.resource_request import ResourceRequest
from broker_core.jobs.overlay_ways import OverlayWay

Chunks = tuple[tuple[int, ...], ...]
"""For each component of an attempt the processes of each of its proxies."""


@dataclass(frozen=True, slots=True)
class Proxies:
    """What the site of a component is told of its proxies."""

    words: str
    """With which the first one calls the launcher; the numbers of the others follow its own."""
    chunks: tuple[int, ...]
    """Processes of each proxy: all on one node."""
    hub: str = ""
    """How the component calls the hub by which it talks to the others; empty: they call each other."""
    overlay: OverlayWay | None = None
    """Which way it does that; None: there is no hub."""
    variables: tuple[tuple[str, str], ...] | None = None
    """Of a component whose launcher is one's own, which has no proxies; None: it has."""

    @property
    def layout(self) -> str:
        """Number of proxies, and processes of each, as the site's scripts read it."""
        return f"{len(self.chunks)} {self.chunks[0]}"

    @property
    def nodes(self) -> int:
        """Nodes to be asked for; 0: any, as each process has a proxy of its own."""
        return len(self.chunks) if len(self.chunks) == 1 or self.chunks[0] > 1 else 0


def nodes_asked(request: ResourceRequest, total: int, cpus: int) -> int:
    """Nodes for a component of `cpus`, with as many on each as HostNumber says for the job of `total`; 0: not
    said."""
    return -(-cpus // request.cpus_on_host(total)) if request.hosts else 0


def chunks_of(request: ResourceRequest, total: int, cpus: int, node_cpus: int) -> tuple[int, ...]:
    """The processes of each proxy of a component of `cpus`.

    `node_cpus`: processors of the largest node of its site; 0: not known.
    One proxy for each node needs to know beforehand how many processes are there. Where they cannot be spread
    evenly, batch systems differ in what they do, and each process has a proxy of its own.
    """
    nodes = nodes_asked(request, total, cpus) or (-(-cpus // node_cpus) if node_cpus else 1)
    return (1,) * cpus if cpus % nodes else (cpus // nodes,) * nodes
