"""What the Scheduling Agent is told: frozen facts in the past tense, each with a dotted wire name."""

from __future__ import annotations

from typing import ClassVar

from broker_core.jdl.description import BatchNeeds
from broker_core.jobs.attempt_events import AttemptReport
from broker_core.jobs.failure_history import FailureHistory
from broker_core.jobs.immutable import immutable
from broker_core.jobs.record import JobRecord
from broker_core.policies.policy import Policy
from broker_core.policies.queues import QueuePolicy
from broker_core.reactor.reactor import TimerFired
from broker_core.resources.facts import SourceHeard
from broker_core.scheduling.coallocation.messages import ComponentGathered, LauncherLost, TrafficCounted
from broker_core.scheduling.demand import Demand
from broker_core.scheduling.slots.effects import EndOfSlot, SpareMachines


@immutable
class Arrival:
    """A job that the scheduler is to take over."""

    record: JobRecord
    demand: Demand
    hold: str = ""
    """Put it on hold at once, for this reason."""
    past: FailureHistory | None = None
    """Its troubles before the broker was started again; None: there were none."""


@immutable
class SubmissionRecorded:
    """Jobs were submitted and are durable (CB-CMD-01)."""

    name: ClassVar[str] = "submission.recorded"
    arrivals: tuple[Arrival, ...]


@immutable
class JobsRecovered:
    """Live jobs were read from the store after a start of the broker, oldest first (CB-LB-02)."""

    name: ClassVar[str] = "jobs.recovered"
    arrivals: tuple[Arrival, ...]
    died: bool = False
    """The broker before this one was killed; it did not stop by itself."""


@immutable
class LinkChanged:
    """The connection to a site is another one, or the site is drained: says nothing about jobs there."""

    name: ClassVar[str] = "link.changed"
    site: str
    """Name of the site."""
    state: str
    """Of the connection, in one word (`sites.link.LinkState`), or `drained`."""
    reason: str
    """In words, with the remedy; empty while connected."""
    usable: bool
    """Jobs can be sent there now."""
    most: int = 0
    """Jobs that may be there at the same time; 0: as many as fit."""


@immutable
class ElsewhereAsked:
    """The owner wants a job run elsewhere, although its attempt may still run at a silent site."""

    name: ClassVar[str] = "elsewhere.asked"
    job: str


@immutable
class CancelAsked:
    """The owner asked to cancel a job (CB-CMD-02)."""

    name: ClassVar[str] = "cancel.asked"
    job: str


@immutable
class HoldAsked:
    """The owner asked not to match a waiting job for now."""

    name: ClassVar[str] = "hold.asked"
    job: str
    reason: str


@immutable
class ReleaseAsked:
    """The owner lifted a hold."""

    name: ClassVar[str] = "release.asked"
    job: str


@immutable
class PoliciesChosen:
    """Other policies decide from now on; None: that one stays as it is (CB-SCH-03)."""

    name: ClassVar[str] = "policies.chosen"
    order: Policy | None = None
    queue: QueuePolicy | None = None


@immutable
class ReplicasFound:
    """It became known where files of jobs are: other resources may be closer than was thought."""

    name: ClassVar[str] = "replicas.found"


@immutable
class StartForetold:
    """A batch system said when a job with such needs would start at one computing element, if sent now."""

    needs: BatchNeeds
    ce: str
    wait: float
    """Seconds."""
    name: ClassVar[str] = "start.foretold"


@immutable
class SlotsUnheard:
    """Sites whose glideins have not said yet how they are, as after a start; their slots are not known."""

    name: ClassVar[str] = "slots.unheard"
    sites: tuple[str, ...]


Request = CancelAsked | HoldAsked | ReleaseAsked | ElsewhereAsked
Observation = SourceHeard | ReplicasFound | LinkChanged | StartForetold | SlotsUnheard
Message = (
    SubmissionRecorded
    | JobsRecovered
    | Observation
    | AttemptReport
    | ComponentGathered
    | LauncherLost
    | TrafficCounted
    | EndOfSlot
    | SpareMachines
    | Request
    | PoliciesChosen
    | TimerFired
)
