"""What the Scheduling Agent wants done: requests for I/O, carried out in order by the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from broker_core.jobs.attempt_events import AttemptReport
from broker_core.jobs.events import JobEvent
from broker_core.jobs.immutable import immutable
from broker_core.jobs.placement import Component, ComputingElement
from broker_core.jobs.record import JobRecord
from broker_core.reactor.reactor import InternalEvent, Wake
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier


@immutable
class Record:
    """Write an event and the row it leads to, in one transaction."""

    event: JobEvent
    record: JobRecord


@immutable
class Submit:
    """Hand a component to its site, once everything recorded before this effect is durable."""

    record: JobRecord
    component: Component
    ce: ComputingElement


@immutable
class Confirm:
    """Let a held component start, once everything recorded before this effect is durable."""

    record: JobRecord
    component: Component
    ce: ComputingElement


@immutable
class Cancel:
    """End a component at its site, once everything recorded before this effect is durable."""

    record: JobRecord
    component: Component
    ce: ComputingElement


@immutable
class LateMessage:
    """A site spoke of a job that is not live: record it with the ended job, if there is one."""

    message: AttemptReport
    reason: str
    """The message in words."""


@immutable
class Ask:
    """Ask every source now: without a cache nothing else lets waiting jobs be matched (CB-CACHE-09)."""


@immutable
class JobEnded(InternalEvent):
    """A job is done, aborted or canceled: for reactors that go on from there."""

    record: JobRecord


Effect = (
    Record | Submit | Confirm | Cancel | ReleaseBarrier | EndLauncher | Wake | LateMessage | Ask | JobEnded
)
ToSite = TypeVar("ToSite", Submit, Confirm, Cancel)


def of_components(
    kind: Callable[[JobRecord, Component, ComputingElement], ToSite], record: JobRecord
) -> list[ToSite]:
    """An effect for each component of the current attempt of a job."""
    return [
        kind(record, Component(record.id, record.attempt, index), one.ce)
        for index, one in enumerate(record.placements)
    ]
