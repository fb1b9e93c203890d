"""What a co-allocation hears and what it wants done."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from broker_core.jobs.immutable import immutable
from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.jobs.placement import Component, Placement
from broker_core.reactor.reactor import InternalEvent
from broker_core.scheduling.coallocation.life import CoallocationState


class Reaction(StrEnum):
    """What is to be done with the job once nothing of its co-allocation is left (Table 4.1)."""

    FINISH = "finish"
    """It is done."""
    REMATCH_DOWN = "rematch, resource down"
    """CB-ERR-1: mark the resource down, match the job again."""
    REMATCH_RESTING = "rematch, resource resting"
    """CB-ERR-2: mark the resource as temporarily not working, match the job again."""
    REPEAT = "repeat"
    """CB-ERR-3, the first time: once more at the same resources. The reactor does that by itself."""
    REMATCH_WITHOUT = "rematch without these"
    """CB-ERR-3, again: a firewall may be in the way; match the job again, without these resources."""
    REMATCH = "rematch"
    """The gather time-out, or CB-ERR-4 before the release: match the job again, from the beginning."""
    ABORT = "abort"
    """CB-ERR-5: abort the job, and tell its owner."""
    HOLD = "hold"
    """The broker died whenever it was on its way: it is put on hold, as it may be the cause."""
    CANCEL = "cancel"
    """Its owner asked for the end."""


@immutable
class CoallocationStarted(InternalEvent):
    """Computing elements were chosen and locked for all components of an attempt."""

    job: str
    attempt: int
    owner: str
    placements: tuple[Placement, ...]
    """One for each component, in the order of their indices."""
    gather_timeout: float = 0.0
    """Seconds within which all reach MPI_Init; 0: as long as for all jobs."""


@immutable
class CoallocationRecovered(InternalEvent):
    """A co-allocation that a broker which ended had begun is taken over, as far as its job tells."""

    job: str
    attempt: int
    owner: str
    placements: tuple[Placement, ...]
    state: CoallocationState
    """Submitting, Gathering or Running."""
    repeated: bool = False
    """It was submitted once more to the same resources already (CB-ERR-3)."""
    suspected: str = ""
    """Why nothing of it may be handed over again; empty: it may."""
    gather_timeout: float = 0.0
    """As for one that starts."""


@immutable
class SitesInContact(InternalEvent):
    """Sites answer again: what they were asked for meanwhile is asked once more."""

    ces: frozenset[str]
    """Their computing elements."""


@immutable
class ComponentGathered:
    """All processes of a component wait in MPI_Init (CB-AL-08)."""

    name: ClassVar[str] = "component.gathered"
    component: Component


@immutable
class LauncherLost:
    """The launcher of a job died, and another one was started (CB-ERR-4)."""

    name: ClassVar[str] = "launcher.lost"
    job: str
    attempt: int


@immutable
class TrafficCounted:
    """What the hub of a job has carried between its components so far (CB-AL-10)."""

    name: ClassVar[str] = "traffic.counted"
    job: str
    attempt: int
    figures: tuple[tuple[int, int], ...]
    """Bytes that each component has sent to others, and was sent by them, in the order of their indices."""
    overlay: OverlayWay | None = None
    """How they get to the hub; None: it is not known."""


@immutable
class CoallocationCanceled:
    """The owner of a job asked for its end."""

    name: ClassVar[str] = "coallocation.canceled"
    job: str


@immutable
class OfferComponent:
    """Hand a component to its site, which holds it."""

    component: Component
    placement: Placement


@immutable
class ConfirmComponent:
    """Let a held component start."""

    component: Component
    placement: Placement


@immutable
class CancelComponent:
    """Remove a component from its site; its end is reported, also where it never got there."""

    component: Component
    placement: Placement


@immutable
class ReleaseBarrier:
    """Let all processes of an attempt leave MPI_Init."""

    job: str
    attempt: int


@immutable
class EndLauncher:
    """End what waits for the components of an attempt: it has failed."""

    job: str
    attempt: int


@immutable
class CoallocationEnded(InternalEvent):
    """Nothing of it is left at any site: its locks may go, and the scheduler decides what follows."""

    job: str
    attempt: int
    """The last one: a repetition has the next number."""
    reaction: Reaction
    resources: tuple[str, ...]
    """Computing elements that it is about: those that failed, or all."""
    reason: str
