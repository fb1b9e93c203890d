"""The small contract behind which every kind of computing element lies; `remote.RemoteSite` drives it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from broker_core.errors import CrossDeskError
from broker_core.resources.facts import Facts
from broker_core.sites.contract import AgentOrder, LaunchOrder, RunFile, SiteRefused
from broker_core.sites.glideins import GlideinAccess
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.link import Link
from broker_core.sites.outside import OutsideAccess
from broker_core.sites.transport.way_back import RelayPlace, WayBack


class SiteFailed(CrossDeskError):
    """The site answers, but its batch system does not do what it is told."""

    code = "site_failed"
    status = 502


class AttemptStatus(Enum):
    """What a site says of one of its jobs."""

    HELD = auto()
    """Handed over, waits for its release."""
    QUEUED = auto()
    RUNNING = auto()
    ENDED = auto()
    """Over by the site's word; only the starter's marker proves how."""
    UNKNOWN = auto()
    """The site does not know it (any more)."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One attempt for a site: the order, and the queue that was chosen."""

    order: LaunchOrder
    queue: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one poll found out about one attempt."""

    seen: AttemptStatus
    id: str = ""
    """The site's own id."""
    reason: str = ""
    """Why it waits or ended, in the site's words."""
    node: str = ""
    started: bytes = b""
    """The starter's marker, if it is there (worker.markers)."""
    ended: bytes = b""
    outputs: bytes = b""
    """The starter's list of output files with sizes and hashes."""
    beat: bytes = b""
    """Changes as long as its starter lives; told where the site does not know the attempt."""
    hopeless: bool = False
    """It will never start there: it waits for what cannot be; `reason` says what."""


@dataclass(frozen=True, slots=True)
class PollResult:
    """What one poll found out."""

    attempts: Mapping[str, Sighting]
    """Tag to what is there; every attempt of this broker at the site, asked for or not."""
    facts: tuple[Facts, ...] = ()
    """The site's queues, where the poll told them at no further cost."""
    missing: frozenset[str] = field(default_factory=frozenset)
    """Tags asked for of which the site knows nothing and has no marker."""
    silent: str = ""
    """Why the site's own list could not be had; then `attempts` holds markers only, nothing is missing."""
    listed: bool = True
    """The site was asked for its own list; else `attempts` holds markers only, nothing is missing."""


@dataclass(frozen=True, slots=True)
class EndRecord:
    """What a batch system wrote down of a job that is over."""

    state: str
    """In its own words, e.g. `NODE_FAIL`."""
    failure: str = ""
    """One of FAILURES, where it tells more than the exit status; else empty."""
    words: str = ""
    """Why it ended, for people; empty where `failure` is."""
    peak_memory: int = 0
    """Bytes; 0: not known."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """An attempt of which something lies at a site that has not changed for a while."""

    tag: str
    begun: bool
    """Its Job Starter began, so that there may be output."""
    alive: bool = False
    """Its starter gives signs of life: nothing of it may be removed."""


class Adapter(Protocol):
    """One kind of computing element. Each call is one exchange with a deadline.

    All may raise LinkLost, and SiteFailed where the link is well but the site is not.
    """

    kind: str
    """`slurm`, `sge`, `pbs`, `lsf`, `condor`, `shell` or `arc`."""
    link: Link
    holds: bool
    """An attempt that was submitted starts only after `release`."""

    @property
    def outside(self) -> OutsideAccess | None:
        """Jobs of the account that are not the broker's; None: the site cannot be asked for them."""
        ...

    @property
    def glideins(self) -> GlideinAccess | None:
        """Glideins there; None: the site can have none."""
        ...

    @property
    def traces(self) -> str:
        """What this broker can have at the site, and where, for people."""
        ...

    async def open(self) -> None:
        """Begin to connect; returns at once."""
        ...

    async def submit(self, launches: Sequence[Launch]) -> Sequence[str | SiteRefused]:
        """Stage and hand over under their tags, held where the site can hold; the site's ids, in order.

        A tag that is at the site already is not handed over again: its id is returned.
        """
        ...

    async def release(self, tags: Sequence[str]) -> None:
        """Let held attempts go, all in one exchange; repeated it does nothing."""
        ...

    async def poll(self, tags: Sequence[str], *, renew: bool = True, listing: bool = True) -> PollResult:
        """Look at all attempts in one exchange; `renew`: and renew their lease.

        `listing`: ask the batch system for its list too, a command that centers count; a site where that
        costs nobody anything may do so in any case.
        """
        ...

    async def cancel(self, tags: Sequence[str]) -> None:
        """End attempts with all their processes, or keep them from starting; the end shows in a poll."""
        ...

    async def end_records(self, tags: Sequence[str]) -> Mapping[str, EndRecord]:
        """What the batch system's records tell of attempts that are over, by tag, as far as they do yet."""
        ...

    async def files(self, tag: str) -> list[RunFile]:
        """Files of an attempt that can be read now."""
        ...

    async def fetch(self, tag: str, names: Sequence[str], into: Path) -> None:
        """Bring files into a directory of this machine; what is there already is continued or replaced."""
        ...

    async def carry_lines(self, tag: str, call: LineCall) -> LineAnswer:
        """See `Site.carry_lines`."""
        ...

    async def bring_agent(self, tag: str, order: AgentOrder) -> None:
        """See `Site.bring_agent`."""
        ...

    async def remove(self, tags: Sequence[str]) -> None:
        """Remove the attempts' directories at the site; raises SiteFailed where some stay, e.g. in use."""
        ...

    async def leftovers(self, after: str, age: float) -> Sequence[Leftover]:
        """What lies there of this broker's attempts, in the order of their tags; at the most some hundreds.

        `after`: tag behind which to go on; `age`: seconds for which it must not have changed.
        """
        ...

    async def leave(self, ended: Collection[str]) -> list[str]:
        """Take away all that this broker has at the site, after its jobs there have ended.

        `ended`: tags that were told to end and did, by the site's word. Returns tags of which something may
        be there yet, such as others that gave a sign of life lately; then it is to be asked again.
        """
        ...

    async def look(self) -> tuple[Facts, ...]:
        """What the site is like now: one for each queue (CB-UPD-01)."""
        ...

    async def forecast(self, launch: Launch) -> float | None:
        """See `RemoteSitePort.forecast`."""
        ...

    def renew(self) -> None:
        """Ask with the next `look` for what seldom changes too."""
        ...

    async def way_back(self, relay: RelayPlace, ports: Sequence[int]) -> WayBack:
        """See `RemoteSitePort.way_back`."""
        ...

    async def close(self) -> None:
        """Give the connection up; what runs goes on."""
        ...

    def answer(self, id: str, value: str) -> None:
        """Answer the link's question; raises NotFound where it is not open."""
        ...

    def connect_now(self) -> None:
        """Try to connect at once; harmless while connected."""
        ...

    def hurry(self) -> None:
        """Do not wait for the next try; what the user has to say is still waited for."""
        ...
