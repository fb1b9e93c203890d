"""A job over several sites as its events tell it: components, barrier, and what was done about failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from broker_core.jobs.events import JobEvent
from broker_core.jobs.immutable import immutable
from broker_core.jobs.overlay_ways import SHOWN, OverlayWay
from broker_core.jobs.placement import computing_element, shared
from broker_core.jobs.transitions import EventType

E = EventType
SHARES = "cpus"
"""Detail of a choice with several computing elements: processors at each."""
INDEX, STEP, COUNT, OF = "component", "step", "count", "components"
"""Details of what happens to a component: its index, the step, how many have made it, and of how many."""
TRAFFIC = "traffic"
"""Detail of what the hub has counted: bytes that each component has sent, and was sent."""
OVERLAY = "overlay"
"""Detail beside it: the way of the components to the hub, an OverlayWay."""
END = "end"
"""Detail of the step `ended`: exit_code, signal, reason, as far as they are known."""
PLAN = "plan"
"""Detail of what is given up: what is to follow once nothing is left, in words."""
_BEGIN = frozenset({E.MATCHED, E.CHOICE_FAILED, E.RETRIED})
_FOLLOWS = _BEGIN | {E.REMATCHED, E.LIST_EXHAUSTED, E.ABORTED, E.CANCELED}


class ComponentStep(StrEnum):
    """What is recorded of a component, each once in an attempt."""

    ACCEPTED = "accepted"
    """Its site has it."""
    STARTED = "started"
    """Its processes were started."""
    GATHERED = "gathered"
    """All its processes wait in MPI_Init."""
    ENDED = "ended"
    """It is over, or was refused."""


class ComponentStanding(StrEnum):
    """Where a component is now, in the words that are shown."""

    SENT = "On its way"
    QUEUED = "In the queue"
    STARTING = "Starting"
    GATHERED = "In MPI_Init"
    RUNNING = "Running"
    ENDING = "Being ended"
    """The attempt was given up, and the end of this one is not known yet."""
    DONE = "Ended"
    FAILED = "Failed"
    """It ended otherwise than by exit code 0."""


C = ComponentStanding


@immutable
class ComponentStory:
    """One component of the current or last attempt. Times: seconds since the epoch; None: not yet."""

    index: int
    ce: str
    cpus: int
    first_rank: int
    """Ranks of its processes in MPI_COMM_WORLD are this one and those that follow, one for each CPU."""
    standing: ComponentStanding
    submitted: float | None = None
    """When its site had it."""
    started: float | None = None
    gathered: float | None = None
    """When all its processes waited in MPI_Init."""
    released: float | None = None
    ended: float | None = None
    end: str = ""
    """How it ended, in words; empty as long as it has not."""
    sent: int | None = None
    """Bytes to other components; None: they call each other, and nobody counts."""
    received: int | None = None

    @property
    def site(self) -> str:
        """Name of its site."""
        return computing_element(self.ce).site

    @property
    def ranks(self) -> str:
        """Its ranks, e.g. `0-3`."""
        last = self.first_rank + self.cpus - 1
        return str(last) if self.cpus == 1 else f"{self.first_rank}-{last}"

    @property
    def words(self) -> str:
        """What it does, or how it ended, in a few words."""
        return self.end or self.standing.value


@immutable
class ReactionTaken:
    """What was done when a component, the launcher or the time failed an attempt."""

    time: float
    attempt: int
    reason: str
    plan: str
    """What is to follow once nothing is left, in words."""
    done: float | None = None
    """When nothing was left and that followed; None: not yet."""


@immutable
class CoallocationStory:
    """The current or last attempt over several sites, and what was done before and in it."""

    attempt: int
    components: tuple[ComponentStory, ...]
    released: float | None
    """When the barrier was released."""
    reactions: tuple[ReactionTaken, ...]
    overlay: OverlayWay | None = None
    """How components get to the hub, as far as it is known."""

    @property
    def between(self) -> str:
        """How the sites reach each other, in a few words."""
        if self.carried is None:
            return "direct connections"
        way = f" ({SHOWN[self.overlay]})" if self.overlay else ""
        return f"overlay, by way of the broker{way}"

    @property
    def carried(self) -> int | None:
        """Bytes that have passed between components by way of the broker; None: they call each other."""
        counts = [one.sent for one in self.components if one.sent is not None]
        return sum(counts) if counts else None

    @property
    def gathered(self) -> int:
        """Components that have reached MPI_Init."""
        return sum(one.gathered is not None for one in self.components)

    @property
    def given_up(self) -> bool:
        """The attempt has failed."""
        return any(one.attempt == self.attempt for one in self.reactions)

    @property
    def barrier(self) -> str:
        """How the barrier stands, in a sentence."""
        count = len(self.components)
        if self.released is not None:
            then = "; then the attempt was given up" if self.given_up else ""
            return f"All {count} components reached MPI_Init, and the barrier was released{then}."
        head = f"{self.gathered} of {count} components reached MPI_Init"
        if self.given_up:
            return f"{head} when the attempt was given up."
        if missing := dict.fromkeys(one.site for one in self.components if one.gathered is None):
            return f"{head}; those there wait for {' and '.join(missing)}." if self.gathered else f"{head}."
        return f"{head}."


def coallocation_of(events: Sequence[JobEvent]) -> CoallocationStory | None:
    """What the events of a job, oldest first, say of its attempts over several sites; None if the current or
    last one is at one site."""
    begun = [index for index, event in enumerate(events) if event.type in _BEGIN]
    if not begun or len(events[begun[-1]].resources) < 2:
        return None
    first = events[begun[-1]]
    own = events[begun[-1] :]
    released = next((event.time for event in own if event.type is E.RUNNING), None)
    steps: dict[tuple[int, str], JobEvent] = {}
    for event in own:
        if event.type is E.COMPONENT_CHANGED:
            steps.setdefault(_step(event.details), event)
    shares = _shares(events[: begun[-1] + 1], first)
    given_up = any(event.type is E.GIVEN_UP for event in own)
    counted = next((event.details for event in reversed(own) if event.type is E.TRAFFIC_COUNTED), {})
    components = [
        _with_traffic(_component(index, ce, shares, released, given_up, steps), counted)
        for index, ce in enumerate(first.resources)
    ]
    way = counted.get(OVERLAY)
    overlay = OverlayWay(way) if way in list(OverlayWay) else None
    return CoallocationStory(first.attempt, tuple(components), released, _reactions(events), overlay)


def steps_of(events: Sequence[JobEvent]) -> frozenset[tuple[int, str]]:
    """What is recorded of the components of the current attempt: index and step."""
    begun = max((index for index, event in enumerate(events) if event.type in _BEGIN), default=0)
    return frozenset(_step(event.details) for event in events[begun:] if event.type is E.COMPONENT_CHANGED)


def _step(details: Mapping[str, Any]) -> tuple[int, str]:
    return int(details.get(INDEX, -1)), str(details.get(STEP, ""))


def _shares(events: Sequence[JobEvent], begin: JobEvent) -> tuple[int, ...]:
    """CPUs of each component: as told with the choice, else as equal as can be."""
    shares = next((event.details[SHARES] for event in reversed(events) if SHARES in event.details), ())
    if len(shares) == len(begin.resources):
        return tuple(int(one) for one in shares)
    cpus = int(events[0].details.get("cpus", 0))
    return tuple(one.cpus for one in shared(begin.resources, cpus))


def _component(
    index: int,
    ce: str,
    shares: Sequence[int],
    released: float | None,
    given_up: bool,
    steps: Mapping[tuple[int, str], JobEvent],
) -> ComponentStory:
    def at(step: ComponentStep) -> float | None:
        event = steps.get((index, step))
        return None if event is None else event.time

    ended = steps.get((index, ComponentStep.ENDED))
    end = {} if ended is None else dict(ended.details.get(END, {}))
    submitted, started = at(ComponentStep.ACCEPTED), at(ComponentStep.STARTED)
    gathered = at(ComponentStep.GATHERED)
    if ended is not None:
        standing = C.DONE if end.get("exit_code") == 0 else C.FAILED
    elif given_up:
        standing = C.ENDING
    else:
        way = ((released, C.RUNNING), (gathered, C.GATHERED), (started, C.STARTING), (submitted, C.QUEUED))
        standing = next((one for time, one in way if time is not None), C.SENT)
    return ComponentStory(
        index,
        ce,
        shares[index],
        sum(shares[:index]),
        standing,
        submitted,
        started,
        gathered,
        released,
        at(ComponentStep.ENDED),
        "" if ended is None else end_words(end),
    )


def _with_traffic(one: ComponentStory, counted: Mapping[str, Any]) -> ComponentStory:
    figures = counted.get(TRAFFIC, ())
    if one.index >= len(figures):
        return one
    sent, received = figures[one.index]
    return replace(one, sent=int(sent), received=int(received))


def end_words(end: Mapping[str, Any]) -> str:
    """How a component ended: `Exit code 0`, `Ended by signal 9`, or the reason."""
    if end.get("exit_code") is not None:
        return f"Exit code {end['exit_code']}"
    if end.get("signal") is not None:
        return f"Ended by signal {end['signal']}"
    return f"Ended: {end['reason']}" if end.get("reason") else "Ended"


def _reactions(events: Sequence[JobEvent]) -> tuple[ReactionTaken, ...]:
    found: list[ReactionTaken] = []
    for index, event in enumerate(events):
        if event.type is E.GIVEN_UP:
            rest = (one for one in events[index + 1 :] if one.attempt >= event.attempt)
            done = next((one.time for one in rest if one.type in _FOLLOWS), None)
            plan = str(event.details.get(PLAN, ""))
            found.append(ReactionTaken(event.time, event.attempt, event.reason, plan, done))
    return tuple(found)
