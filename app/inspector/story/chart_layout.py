"""Where the states stand in the drawing of the life cycle, and which way a job took through it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import TRANSITIONS, EventType, successors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from broker_core.wire.views import EventView

S = JobState
Edge = tuple[JobState, JobState]

COMPACT: dict[JobState, tuple[float, float]] = {
    S.SUBMITTED: (0, 0),
    S.WAITING: (1, 0),
    S.READY: (2, 0),
    S.SCHEDULED: (0, 1),
    S.RUNNING: (1, 1),
    S.DONE: (2, 1),
    S.CLEARED: (0, 2),
    S.ABORTED: (1, 2),
    S.CANCELED: (2, 2),
}
"""Column and row of each state where the pane is narrow: lines that are read from left to right."""

WIDE: dict[JobState, tuple[float, float]] = {
    S.SUBMITTED: (0, 0),
    S.WAITING: (1, 0),
    S.READY: (2, 0),
    S.SCHEDULED: (3, 0),
    S.RUNNING: (4, 0),
    S.DONE: (5, 0),
    S.CLEARED: (6, 0),
    S.ABORTED: (4, 1),
    S.CANCELED: (3, 1),
}
"""Column and row of each state where there is room: the way runs from left to right."""

MAIN_WAY: tuple[Edge, ...] = (
    (S.SUBMITTED, S.WAITING),
    (S.WAITING, S.READY),
    (S.READY, S.SCHEDULED),
    (S.SCHEDULED, S.RUNNING),
    (S.RUNNING, S.DONE),
    (S.DONE, S.CLEARED),
)
"""The steps of a job to which nothing happens; always drawn."""

EDGES: frozenset[Edge] = frozenset(
    (old, new)
    for (old, event), new in TRANSITIONS.items()
    if old is not None and old is not new and event is not EventType.MESSAGE_LATE
)
"""Every step between two states that the transition table knows."""


@dataclass(slots=True)
class Path:
    """The way one job took."""

    visits: dict[JobState, list[float]] = field(default_factory=dict)
    """State to the times (seconds since the epoch) at which it was entered."""
    steps: dict[Edge, int] = field(default_factory=dict)
    """Step to how often it was taken."""
    current: JobState | None = None

    @property
    def next(self) -> tuple[JobState, ...]:
        """States that may come next."""
        return successors(self.current) if self.current else ()


def path_of(events: Iterable[EventView]) -> Path:
    """Read the way of a job from its events, in order."""
    path = Path()
    for event in events:
        old = JobState(event.old) if event.old else None
        new = JobState(event.new)
        if old is not new:
            path.visits.setdefault(new, []).append(event.time)
            if old is not None:
                path.steps[old, new] = path.steps.get((old, new), 0) + 1
        path.current = new
    return path
