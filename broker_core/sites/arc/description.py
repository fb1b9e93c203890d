"""What A-REX is told of a job: an activity description (ADL) that runs the launch script."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from broker_core.jdl.resource_request import NOTHING, ResourceRequest

BUNDLE = "bundle.tar"
"""Input file with the Job Starter and the files of the input sandbox."""
LAUNCH = "launch"
"""Input file that is put there after the others: with it the job is whole."""
GO = "go"
"""Input file for which A-REX waits before it starts the job: putting it there releases the job.

A job that is never released ends by itself: A-REX gives up waiting after some minutes.
"""
RELEASE = b"1\n"
"""Content of that file: one that is shorter was cut off on its way."""
CANCEL = "cancel"
"""File that ends the program when it is put there."""
LOG = "starter.log"
MARKERS = ("started", "ended", "outputs")
JOB = "job/"
"""The working directory of the user's program, below the session directory."""
_KEPT = (*MARKERS, LOG, JOB)
"""What A-REX must not delete when the job has ended."""
_NAMESPACE = "http://www.eu-emi.eu/es/2010/12/adl"


@dataclass(frozen=True, slots=True)
class Activity:
    """One job for A-REX."""

    name: str
    queue: str
    cpus: int
    wall_limit: float | None = None
    """Seconds, with what staging takes."""
    request: ResourceRequest = NOTHING
    """Nodes and memory."""
    environments: tuple[str, ...] = ()
    """Run-time environments of the site, e.g. `ENV/PROXY`."""


def document(activities: Iterable[Activity]) -> bytes:
    """One request for several jobs."""
    text = "".join(map(_one, activities))
    return f"<ActivityDescriptions>{text}</ActivityDescriptions>".encode()


def _one(activity: Activity) -> str:
    inputs = "".join(f"<InputFile><Name>{name}</Name></InputFile>" for name in (BUNDLE, LAUNCH, GO))
    outputs = "".join(f"<OutputFile><Name>{name}</Name></OutputFile>" for name in _KEPT)
    return (
        f'<ActivityDescription xmlns="{_NAMESPACE}">'
        f"<ActivityIdentification><Name>{escape(activity.name)}</Name></ActivityIdentification>"
        f"<Application><Executable><Path>/bin/sh</Path><Argument>{LAUNCH}</Argument></Executable>"
        f"<Output>{LOG}</Output><Error>{LOG}</Error></Application>"
        f"<Resources>{_resources(activity)}</Resources>"
        f"<DataStaging>{inputs}{outputs}</DataStaging></ActivityDescription>"
    )


def _resources(activity: Activity) -> str:
    text = "".join(
        f"<RuntimeEnvironment><Name>{escape(name)}</Name></RuntimeEnvironment>"
        for name in activity.environments
    )
    if memory := activity.request.memory_of_cpu(activity.cpus):
        text += f"<IndividualPhysicalMemory>{memory << 20}</IndividualPhysicalMemory>"
    text += f"<SlotRequirement>{_slots(activity)}</SlotRequirement>"
    if activity.queue:
        text += f"<QueueName>{escape(activity.queue)}</QueueName>"
    if activity.wall_limit is not None:
        text += f"<WallTime>{max(1, round(activity.wall_limit))}</WallTime>"
    return text


def _slots(activity: Activity) -> str:
    request, cpus = activity.request, activity.cpus
    text = f"<NumberOfSlots>{cpus}</NumberOfSlots>"
    if request.hosts and cpus > 1:
        text += f"<SlotsPerHost>{request.cpus_on_host(cpus)}</SlotsPerHost>"
    return text + ("<ExclusiveExecution>true</ExclusiveExecution>" if request.whole_nodes else "")
