"""What the glidein monitor wants done, and what it lets the scheduler know."""

from __future__ import annotations

from broker_core.jobs.immutable import immutable
from broker_core.reactor.reactor import InternalEvent
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import SlotRole


@immutable
class StartGlidein:
    """Submit a glidein to a computing element, once everything recorded before is durable."""

    glidein: str
    ce: str
    owner: str
    vo: str


@immutable
class StopGlidein:
    """Tell a glidein to end, and end it at its site: nothing is to run in it any more. May be asked again."""

    glidein: str
    ce: str
    """Empty for a glidein that is not known."""
    reason: str


@immutable
class RenewLease:
    """Answer the sign of life of a glidein. Nobody else may: what is lost must not live on."""

    glidein: str


@immutable
class StartPayload:
    """Have a glidein start a payload. The glidein takes a claim once: a second start of it does nothing."""

    glidein: str
    claim: str
    role: SlotRole
    payload: Payload
    priority: int
    """Nice value."""
    after: str = ""
    """Claim whose payload has to be over before; empty: none."""


@immutable
class EndPayload:
    """Have a glidein end a payload, and say so."""

    glidein: str
    claim: str
    reason: str


@immutable
class RecallPayload:
    """Have a glidein give a payload back that waits in line; one that has begun goes on."""

    glidein: str
    claim: str


@immutable
class SetPriority:
    """Give all processes of a payload another priority (CB-GLI-09)."""

    glidein: str
    claim: str
    priority: int
    """Nice value."""


@immutable
class SuspendPayload:
    """Stop all processes of a payload."""

    glidein: str
    claim: str


@immutable
class ResumePayload:
    """Let all processes of a stopped payload go on."""

    glidein: str
    claim: str


@immutable
class LateGlideinMessage:
    """Somebody spoke of a glidein or claim that is over or unknown; it changed nothing."""

    subject: str
    message: str
    """Its name."""


@immutable
class SlotsClaimed(InternalEvent):
    """Every payload of a request has its slot; they are started."""

    payloads: tuple[Payload, ...]
    claims: tuple[str, ...]
    """In the order of the payloads."""


@immutable
class SlotsRefused(InternalEvent):
    """There is no slot for a request now."""

    payloads: tuple[Payload, ...]
    reason: str


@immutable
class GlideinUnavailable(InternalEvent):
    """The glidein of a job never joined; the job follows CB-LIFE-02."""

    payload: Payload
    reason: str


@immutable
class SlotOpened(InternalEvent):
    """A slot can be claimed by others now: waiting jobs may be matched again (CB-SCH-06)."""

    ce: str
    vo: str
    role: SlotRole


@immutable
class SpareMachines(InternalEvent):
    """So many processors more, or fewer, are held by glideins of a queue for no batch job: the batch system
    has given them out, though no job of the broker has them."""

    ce: str
    cpus: int


@immutable
class PayloadRuns(InternalEvent):
    """A payload started in its slot."""

    payload: Payload


@immutable
class PayloadOver(InternalEvent):
    """A payload ended in its slot."""

    payload: Payload
    exit_code: int | None
    reason: str


@immutable
class PayloadReturned(InternalEvent):
    """A payload did not run to its end, and nothing of it is left: its job may run again at once."""

    payload: Payload
    reason: str
    blameless: bool = False
    """It was ended for others (`EndCause.blameless`, CB-GLI-13)."""


@immutable
class PayloadInDoubt(InternalEvent):
    """The glidein of a payload is lost; until its lease has ended it may still run."""

    payload: Payload
    reason: str


@immutable
class PayloadLost(InternalEvent):
    """The lease of a payload in doubt has ended: a batch job may run again, an interactive one is aborted."""

    payload: Payload
    reason: str
    again: bool
    """False for an interactive job (CB-GLI-14)."""


ToGlidein = (
    StartGlidein | StopGlidein | RenewLease | StartPayload | EndPayload | RecallPayload | SetPriority
    | SuspendPayload | ResumePayload | LateGlideinMessage
)  # fmt: skip
ToScheduler = (
    SlotsClaimed | SlotsRefused | GlideinUnavailable | SlotOpened | PayloadRuns | PayloadOver
    | PayloadReturned | PayloadInDoubt | PayloadLost | SpareMachines
)  # fmt: skip
EndOfSlot = SlotsRefused | GlideinUnavailable | PayloadReturned | PayloadLost
"""What the scheduler takes of it."""
