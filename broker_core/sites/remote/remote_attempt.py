"""One attempt at a remote site: what the broker knows of it while it is not over."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, auto

from broker_core.jobs.placement import Component
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.remote.attempt_life import Arrived, Begun, Ending, Life, Offered, Sought, reached
from broker_core.worker.markers import StartedMark


class Origin(Enum):
    """How it came to be known."""

    ORDERED = auto()
    """This broker handed it over, or is to do so (again)."""
    NAMED = auto()
    """By its name alone: from before a restart, or because it was to be canceled."""
    NAMED_HELD = auto()
    """In the same way, and the engine was told that it waits there for its release."""


@dataclass(frozen=True, slots=True)
class Unrequested:
    """Nobody wants it."""


@dataclass(frozen=True, slots=True)
class Requested:
    """The engine wants it; the site was not asked, or under no name that it knows."""


@dataclass(frozen=True, slots=True)
class Hurry:
    """Looks for its start are taken more often."""

    pace: float
    """Seconds between two."""
    until: float
    """By the monotonic clock."""


@dataclass(frozen=True, slots=True)
class RequestSent:
    """The site was asked; it is asked again as long as it is not seen to help."""

    at: float
    """By the monotonic clock."""


@dataclass(frozen=True, slots=True)
class RequestDone:
    """It was seen to be done: should somebody undo it later, that is their will."""


Request = Unrequested | Requested | RequestSent | RequestDone


class Presence(Enum):
    """Whether the batch system knows it."""

    NEVER = auto()
    """It was never in its list."""
    LISTED = auto()
    """It was in the list that showed it last."""
    STUCK = auto()
    """It was, and will never start."""
    DELISTED = auto()
    """It was in an earlier list; what is known since comes from its starter."""


class Reported(Enum):
    """What the engine was told of its start."""

    NOTHING = auto()
    """That the site does not run it, if anything."""
    RUNS = auto()
    """The site runs it."""
    STARTED = auto()
    """Its starter has begun."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The batch system did not know it, so often in a row, though no marker tells its end."""

    looks: int
    at: float
    """When the last of these looks was over, by the monotonic clock."""
    seconds: float
    """That count as passed meanwhile."""


@dataclass(slots=True, eq=False)
class RemoteAttempt:
    """An attempt, from its submission or finding again until its end is reported."""

    attempt: Component
    origin: Origin = Origin.NAMED
    life: Life = field(default_factory=Sought)
    release: Request = field(default_factory=Unrequested)
    """It is held there until its id is durable here."""
    cancellation: Request = field(default_factory=Unrequested)
    id: str = ""
    """The site's own; empty as long as it told none."""
    seen: AttemptStatus | None = None
    """By the last look that found it."""
    presence: Presence = Presence.NEVER
    absence: Absence | None = None
    beat: bytes = b""
    """Its starter's last sign of life that was seen while the batch system did not know it."""
    reason: str = ""
    """Why it waits or ended, in the site's words."""
    reported: Reported = Reported.NOTHING
    reported_wait: str = ""
    """Why it waits, as the engine was told last."""
    hurry: Hurry | None = None
    """Somebody waits for its start."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Files that could be read when they were last listed."""

    @property
    def tag(self) -> str:
        """The attempt's tag."""
        return self.attempt.tag

    @property
    def is_ordered(self) -> bool:
        """This broker handed it over, or is to do so (again)."""
        return self.origin is Origin.ORDERED

    @property
    def arrived(self) -> float | None:
        """When the site was first known to have it, by the monotonic clock."""
        state = reached(self.life)
        return state.since if isinstance(state, Arrived | Begun) else None

    @property
    def mark(self) -> StartedMark | None:
        """Its starter's first marker."""
        state = reached(self.life)
        return state.mark if isinstance(state, Begun) else None

    @property
    def is_offered(self) -> bool:
        """A submission is under way."""
        return isinstance(reached(self.life), Offered)

    @property
    def is_ending(self) -> bool:
        """Its end is known."""
        return isinstance(self.life, Ending)

    @property
    def is_canceled(self) -> bool:
        """It is to end."""
        return not isinstance(self.cancellation, Unrequested)

    @property
    def is_unfenced(self) -> bool:
        """It must end, and its site, which has it, was not asked to yet."""
        return isinstance(self.cancellation, Requested) and isinstance(self.life, Arrived | Begun)

    def cancel_due(self, now: float, again: float, listed: float = math.inf) -> bool:
        """True if the site is to be told to end it; what it does not have cannot be named to it yet.

        `listed`: when the site's list was asked for last: before, nobody saw whether it helped.
        """
        return isinstance(self.life, Arrived | Begun) and _due(self.cancellation, now, again, listed)

    def release_due(self, now: float, again: float, listed: float = math.inf) -> bool:
        """True if the site is to be told to let it go; `listed` as above."""
        held = isinstance(self.life, Arrived | Begun) and self.seen in (None, AttemptStatus.HELD)
        return held and not self.is_canceled and _due(self.release, now, again, listed)


def _due(request: Request, now: float, again: float, listed: float) -> bool:
    """True for what was not sent, or does not help since `again` seconds by a list of after that."""
    if isinstance(request, RequestSent):
        return now - request.at > again and listed > request.at
    return isinstance(request, Requested)
