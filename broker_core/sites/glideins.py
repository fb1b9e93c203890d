"""What goes between the broker and the glideins at a site, as values (CB-GLI-02)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from broker_core.jobs.placement import Component
from broker_core.launching.cached_program import CachedProgram

PAYLOAD_LEASE = 10
"""Seconds for which a payload runs on without its glidein."""


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """The slot of a glidein that an attempt has, by the claim that was made for it."""

    glidein: str
    claim: str
    nice: int
    """Nice value of all its processes."""
    after: str = ""
    """The claim whose payload has to be over before; empty: none."""
    reads: tuple[str, ...] = ()
    """What it may read there beside its own directory."""
    writes: tuple[str, ...] = ()
    """What it may write too."""


class ClaimMode(StrEnum):
    """What is to become of a payload, in the word of its claim's file."""

    RUN = "run"
    """It runs, or goes on."""
    STOP = "stop"
    """It stands still until it is told to go on."""
    END = "end"
    """It ends, or never begins."""
    BACK = "back"
    """It does not begin any more; if it has begun it goes on."""

    @property
    def forbids_start(self) -> bool:
        """What has not begun never will; it may be said again until that is known."""
        return self in (ClaimMode.END, ClaimMode.BACK)


@dataclass(frozen=True, slots=True)
class ClaimControl:
    """What is to become of the payload of a claim that a glidein may have."""

    glidein: str
    claim: str
    tag: str
    """Of the attempt; empty where nothing is known of the claim, which is not to begin then."""
    nice: int
    mode: ClaimMode
    after: str = ""
    """The claim that is ahead of it in line; empty: none."""


@dataclass(frozen=True, slots=True)
class GlideinMessages:
    """What glideins of a site are told in one exchange."""

    renew: tuple[str, ...] = ()
    """Those whose leases are renewed."""
    controls: tuple[ClaimControl, ...] = ()
    remove: tuple[str, ...] = ()
    """Those that are over: what is left of them goes."""
    settled: tuple[tuple[str, str], ...] = ()
    """Glideins with claims whose end is recorded: they need not tell of it any more."""
    ask: tuple[str, ...] = ()
    """Those that are asked how they are."""


@dataclass(frozen=True, slots=True)
class GlideinStatus:
    """What a glidein says of itself and its claims."""

    node: str
    both_ways: bool
    """It can raise the priority of a payload again."""
    beat: int
    """Another number with each sign of life."""
    faults: tuple[str, ...] = ()
    """Why the node is not fit."""
    box: str = ""
    """What keeps its payloads apart, in words for people; empty: it did not say."""
    runs: frozenset[str] = frozenset()
    """Claims whose payloads run."""
    over: Mapping[str, int] = field(default_factory=dict)
    """Claims whose payloads are over to the exit status of their Job Starter."""
    refused: frozenset[str] = frozenset()
    """Claims that never began, and never will."""


class GlideinAccess(Protocol):
    """The glideins of a site."""

    async def exchange(self, messages: Callable[[], GlideinMessages]) -> Mapping[str, GlideinStatus]:
        """Tell them `messages`, which is called as late as can be, and ask; what no glidein says is left out.

        What is not there within seconds is not told any more. Raises LinkLost and SiteFailed.
        """
        ...

    async def provide(self, program: CachedProgram) -> None:
        """Have a program at the site, for what will come into slots. Raises SiteRefused and LinkLost."""
        ...


@runtime_checkable
class GlideinSite(Protocol):
    """A site that can have glideins."""

    in_slot: Callable[[Component], bool]
    """True for an attempt that a glidein has, or is to get: that the site does not list it means nothing."""

    @property
    def glideins(self) -> GlideinAccess | None:
        """Glideins there; None: the site can have none."""
        ...

    def payloads_ended(self, *, last: bool) -> None:
        """Glideins told that some have: look at their attempts soon; `last`: now, as none runs any more."""
        ...


def glideins_of(site: object) -> GlideinAccess | None:
    """The glideins of a site; None: it can have none."""
    return site.glideins if isinstance(site, GlideinSite) else None


def let_know(site: object, in_slot: Callable[[Component], bool]) -> None:
    """Let a site know which of its attempts are in slots."""
    if isinstance(site, GlideinSite):
        site.in_slot = in_slot


def tell_ends(site: object, *, last: bool) -> None:
    """See `GlideinSite.payloads_ended`."""
    if isinstance(site, GlideinSite):
        site.payloads_ended(last=last)


def claim_lines(controls: Sequence[ClaimControl]) -> list[str]:
    """What a claim's file says, as lines with the glidein and the claim ahead."""
    return [
        f"c {one.glidein} {one.claim} {one.tag or '-'} {one.nice} {one.mode} {one.after}"
        for one in controls
    ]
