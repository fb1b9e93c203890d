"""What an adapter needs of the way to a site: run a shell script there and carry bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.errors import CrossDeskError
from broker_core.sites.link import Link
from broker_core.sites.transport.way_back import RelayPlace, WayBack

DEADLINE = 60.0
"""Seconds that one command may take unless its caller knows better."""
MOST_OUT = 64 * 2**20
"""Bytes that `run` and `send` take as an answer; what may be larger goes through `receive`."""
MOST_ERR = 64 * 2**10
"""Bytes of standard error that are kept; the rest is dropped."""


class LinkLost(CrossDeskError):
    """The way to the site broke or the deadline passed: whether the command ran is not known."""

    code = "link_lost"
    status = 502


class NotSent(LinkLost):
    """There was no way to the site: the command was not sent, so it did not run."""

    code = "link_down"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a script at a site left."""

    status: int
    """Exit status; 128 + N where signal N ended it."""
    out: bytes
    err: bytes


class Transport(Protocol):
    """One way to one site; concurrent calls share it, so many at once as the site's settings allow.

    Every call has a deadline. A call while there is no connection waits for one until its deadline, and
    raises NotSent after it; at once where the link needs credentials or is down. A call that ends early,
    by its deadline or because its caller is cancelled, ends the script with its process group; where the
    connection is lost the script may go on.

    A script can be seen by other users of the site in the list of processes: secrets go through stdin.
    A process which a script leaves behind must not keep the script's stdout or stderr.
    """

    link: Link

    async def run(self, script: str, *, stdin: bytes = b"", deadline: float = DEADLINE) -> Reply:
        """Run a POSIX shell script in the user's account, whatever login shell the account has.

        Raises LinkLost; also where the answer is larger than MOST_OUT.
        """
        ...

    async def send(self, script: str, chunks: AsyncIterator[bytes], *, deadline: float = DEADLINE) -> Reply:
        """Like `run`, with an input that need not fit into memory.

        The deadline is that of standstill: it begins anew with each piece that the site takes.
        """
        ...

    async def receive(
        self, script: str, write: Callable[[bytes], None], *, deadline: float = DEADLINE
    ) -> Reply:
        """Like `run`, with an output that need not fit into memory; `out` of the reply is empty.

        The deadline is that of silence: it begins anew with each byte.
        """
        ...

    async def way_back(self, relay: RelayPlace, ports: Sequence[int], *, wide: bool) -> WayBack:
        """How the site's nodes reach a relay that this machine reaches; `wide`: nodes are other machines.

        `ports`: at the site, from earlier connections, used again where they can be. Raises LinkLost.
        """
        ...

    async def open(self) -> None:
        """Begin to connect, and stay connected until `close`; returns at once."""
        ...

    async def close(self) -> None:
        """Give the connection up."""
        ...

    def answer(self, id: str, value: str) -> None:
        """Answer the link's question; empty: the user declines. Raises NotFound where it is not open."""
        ...

    def connect_now(self) -> None:
        """Try to connect at once instead of at `Link.retry_at`; harmless while connected."""
        ...

    def hurry(self) -> None:
        """The same where nobody but the time is waited for, or a host's key that may be known meanwhile."""
        ...
