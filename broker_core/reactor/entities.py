"""Entities of any kind: each step goes by the table of the kind, and is recorded as an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from broker_core.jobs.events import EventSource
from broker_core.jobs.immutable import immutable
from broker_core.jobs.transition_table import TransitionTable
from broker_core.reactor.reactor import Now
from broker_core.version import SCHEMA

ENTITY_PREFIX = "pool-"
"""What the ids of entities begin with, by which their events are found among those of jobs."""
State = TypeVar("State", bound=StrEnum)
Event = TypeVar("Event", bound=StrEnum)


def is_entity(id: str) -> bool:
    """True for the id of an entity that is no job."""
    return id.startswith(ENTITY_PREFIX)


@immutable
class EntityEvent:
    """One event of an entity that is no job; the fields are those of `RecordedEvent`."""

    subject: str
    seq: int
    time: float
    source: EventSource
    type: StrEnum
    old: StrEnum | None
    new: StrEnum
    owner: str
    attempt: int = 0
    resources: tuple[str, ...] = ()
    reason: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    schema: int = SCHEMA
    position: int = 0


@immutable
class RecordEvent:
    """Write an event of an entity without a row of its own: its state is what its events add up to."""

    event: EntityEvent


@immutable
class RecoveredEntity:
    """An entity that is not over, as its events leave it."""

    subject: str
    state: StrEnum
    seq: int
    """Number of its last event."""
    details: dict[str, Any]
    """Of all its events together, later ones before earlier ones."""


class Entities(Generic[State, Event]):
    """The live entities of one kind: their states, and how many events each has."""

    def __init__(self, table: TransitionTable[State, Event], positions: Callable[[], int]) -> None:
        """`positions`: the next position in the log."""
        self._table = table
        self._positions = positions
        self._live: dict[str, tuple[State, int]] = {}

    def state(self, subject: str) -> State | None:
        """The state of a live entity; None for one that has not begun, or is over."""
        known = self._live.get(subject)
        return None if known is None else known[0]

    def restore(self, states: Mapping[str, tuple[State, int]]) -> None:
        """Go on after a start of the broker: state and number of the last event, as replay gives them."""
        final = self._table.final
        self._live = {subject: known for subject, known in states.items() if known[0] not in final}

    def resume(self, subject: str, state: State, seq: int = 0) -> None:
        """Go on with one entity in a state that is known otherwise than by its events."""
        self._live[subject] = state, seq

    def step(
        self,
        subject: str,
        type_: Event,
        now: Now,
        *,
        owner: str,
        source: EventSource = EventSource.SCHEDULER,
        reason: str = "",
        details: dict[str, Any] | None = None,
    ) -> RecordEvent:
        """Let something happen to an entity; raises IllegalTransition for a step outside the table."""
        old, seq = self._live.get(subject, (None, 0))
        new = self._table.after(old, type_)
        if new in self._table.final:
            self._live.pop(subject, None)
        else:
            self._live[subject] = new, seq + 1
        event = EntityEvent(
            subject, seq + 1, now.wall, source, type_, old, new, owner,
            reason=reason, details=details or {}, position=self._positions(),
        )  # fmt: skip
        return RecordEvent(event)
