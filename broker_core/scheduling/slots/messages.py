"""What the glidein monitor is told: by the scheduler, and by whoever carries its decisions out."""

from __future__ import annotations

from typing import ClassVar

from broker_core.jobs.immutable import immutable
from broker_core.reactor.entities import RecoveredEntity
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import PriorityControl


@immutable
class GlideinWanted:
    """A batch job activates a glidein at a computing element, and is to run in it (CB-GLI-02)."""

    name: ClassVar[str] = "glidein.wanted"
    payload: Payload
    ce: str
    needs: str = ""
    """What it asks of a machine: a glidein of the same owner and needs may take it. Empty: none may."""
    seconds: float = 0.0
    """Its wall limit; 0: none."""
    lasts: float = 0.0
    """That of a glidein which is made for it; 0: none."""
    others: tuple[str, ...] = ()
    """Other computing elements of the same site that could run it as well."""

    def fits(self, ce: str) -> bool:
        """True where it may run in a glidein of a computing element."""
        return ce == self.ce or ce in self.others


@immutable
class SlotsWanted:
    """Payloads of one job want a slot each, now, all or none of them."""

    name: ClassVar[str] = "slots.wanted"
    payloads: tuple[Payload, ...]
    ces: tuple[str, ...] = ()
    """The computing elements whose glideins fit, best first; empty: all."""


@immutable
class JobWithdrawn:
    """A job does not want its slots any more: its owner canceled it, or it runs elsewhere."""

    name: ClassVar[str] = "job.withdrawn"
    job: str
    reason: str


@immutable
class ApplicationReleased:
    """All components of a job over several sites are there, and its application starts (CB-GLI-13)."""

    name: ClassVar[str] = "application.released"
    job: str


@immutable
class GlideinAccepted:
    """A computing element took a glidein."""

    name: ClassVar[str] = "glidein.site_accepted"
    glidein: str
    site_id: str = ""


@immutable
class GlideinRefused:
    """A computing element did not take a glidein."""

    name: ClassVar[str] = "glidein.site_refused"
    glidein: str
    reason: str


@immutable
class GlideinStarted:
    """A batch system started a glidein."""

    name: ClassVar[str] = "glidein.site_started"
    glidein: str


@immutable
class GlideinConnected:
    """The daemons of a glidein called the broker, for the first time or again."""

    name: ClassVar[str] = "glidein.connected"
    glidein: str
    node: str = ""
    faults: tuple[str, ...] = ()
    """What is wrong with the node, in words; it takes no work then."""
    box: str = ""
    """What keeps its payloads apart, in words; empty: it did not say."""
    priorities: PriorityControl = PriorityControl.BOTH_WAYS
    claims: frozenset[str] = frozenset()
    """The claims that it has begun and not yet reported as over."""


@immutable
class GlideinAlive:
    """A sign of life of a glidein; its lease begins anew with the answer."""

    name: ClassVar[str] = "glidein.alive"
    glidein: str


@immutable
class GlideinGone:
    """A glidein ended: by itself, or killed, as its site or its own last word says."""

    name: ClassVar[str] = "glidein.gone"
    glidein: str
    reason: str


@immutable
class PayloadStarted:
    """The payload of a claim was started."""

    name: ClassVar[str] = "payload.started"
    claim: str


@immutable
class PayloadRefused:
    """A glidein did not start the payload of a claim, and never will."""

    name: ClassVar[str] = "payload.refused"
    claim: str
    reason: str


@immutable
class PayloadEnded:
    """Every process of a payload is gone."""

    name: ClassVar[str] = "payload.ended"
    claim: str
    exit_code: int | None = None
    """None: it did not end by itself."""
    reason: str = ""


@immutable
class SlotsRecovered:
    """What the log says of glideins, slots and claims that are not over, after a start of the broker."""

    name: ClassVar[str] = "slots.recovered"
    glideins: tuple[RecoveredEntity, ...]
    slots: tuple[RecoveredEntity, ...]
    claims: tuple[RecoveredEntity, ...]


OfGlidein = GlideinAccepted | GlideinRefused | GlideinStarted | GlideinConnected | GlideinAlive | GlideinGone
OfClaim = PayloadStarted | PayloadRefused | PayloadEnded
OfScheduler = GlideinWanted | SlotsWanted | JobWithdrawn | ApplicationReleased
