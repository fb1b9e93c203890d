"""The reactor of jobs with several components: submit all, gather, release the barrier, or give all up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.events import EventSource
from broker_core.jobs.placement import Component, Placement
from broker_core.reactor.entities import Entities, RecordEvent
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.scheduling.coallocation.life import (
    COALLOCATION_LIFE,
    COMPONENT_LIFE,
    CoallocationEvent,
    CoallocationState,
    ComponentEvent,
    ComponentState,
)
from broker_core.scheduling.coallocation.messages import (
    CancelComponent,
    CoallocationCanceled,
    CoallocationEnded,
    CoallocationRecovered,
    CoallocationStarted,
    ComponentGathered,
    ConfirmComponent,
    LauncherLost,
    OfferComponent,
    Reaction,
    ReleaseBarrier,
    SitesInContact,
)

GATHER_TIMEOUT = 3600.0
"""Seconds within which all components have to reach MPI_Init (`gather_timeout`)."""
CANCEL_AGAIN = 60.0
"""Seconds after which a component whose end was not told is canceled again."""
_OF_SITE = frozenset({"download", "software", "agent", "lost", "lease", "starter", "never-starts"})
"""Ways to end an attempt that say something of its resource: CB-ERR-2, not CB-ERR-3."""
GONE = frozenset({"lost", "lease"})
"""Those with which a site loses what computes: no fault of the application (CB-ERR-5)."""
OF_COMPONENT = AttemptAccepted | AttemptRefused | AttemptStarted | AttemptEnded | ComponentGathered
"""What is said of one component."""
S, E, C, N = CoallocationState, CoallocationEvent, ComponentState, ComponentEvent

_TOGETHER = {
    S.SUBMITTING: {C.OFFERED, C.HELD},
    S.GATHERING: {C.CONFIRMED, C.STARTED, C.GATHERED},
    S.RUNNING: {C.RELEASED, C.ENDED},
    S.ENDING: {C.CANCELED, C.ENDED},
}
"""What the components of a co-allocation can be in each of its states."""


@dataclass(slots=True)
class Coallocation:
    """One job over several computing elements, while anything of it may be at a site."""

    job: str
    attempt: int
    owner: str
    placements: tuple[Placement, ...]
    state: CoallocationState
    timeout: float
    """Seconds within which all components reach MPI_Init."""
    components: list[ComponentState] = field(default_factory=list)
    """By index."""
    early: set[int] = field(default_factory=set)
    """Components that wait in MPI_Init before all sites have theirs: those in slots start by themselves."""
    deadline: float = 0.0
    """Of the gathering, or for the next cancel of what has not ended, by the monotonic clock."""
    repeated: bool = False
    """It was submitted once more to the same resources already (CB-ERR-3)."""
    reaction: Reaction = Reaction.FINISH
    blamed: tuple[str, ...] = ()
    """Computing elements that failed it."""
    reason: str = ""

    def component(self, index: int) -> Component:
        """By its index, of the current attempt."""
        return Component(self.job, self.attempt, index)

    @property
    def gathered(self) -> int:
        """Components that wait in MPI_Init: the barrier is `gathered` of all."""
        return self.components.count(C.GATHERED)


class Coallocations:
    """Takes what sites and launchers say; every event is legal at any time, and a late one changes nothing.

    Components have the life of COMPONENT_LIFE, a job that of COALLOCATION_LIFE; its steps are recorded.
    """

    takes = frozenset(
        {
            *(CoallocationStarted, AttemptAccepted, AttemptRefused, AttemptStarted, AttemptEnded),
            *(ComponentGathered, LauncherLost, CoallocationCanceled, TimerFired),
            *(CoallocationRecovered, SitesInContact),
        }
    )
    gives = frozenset(
        {
            *(OfferComponent, ConfirmComponent, CancelComponent, ReleaseBarrier),
            *(CoallocationEnded, RecordEvent),
        }
    )

    def __init__(self, positions: Callable[[], int], gather_timeout: float = GATHER_TIMEOUT) -> None:
        """`positions`: the next position in the log. `gather_timeout`: seconds."""
        self._entities: Entities[CoallocationState, CoallocationEvent] = Entities(
            COALLOCATION_LIFE, positions
        )
        self._timeout = gather_timeout
        self.live: dict[str, Coallocation] = {}
        """By job."""

    def handle(self, event: Any, now: Now) -> list[Any]:
        """See `Reactor`."""
        if isinstance(event, CoallocationStarted):
            effects = self._begin(event, now)
        elif isinstance(event, CoallocationRecovered):
            effects = self._recover(event, now)
        elif isinstance(event, SitesInContact):
            effects = [effect for one in self.live.values() for effect in self._ask_again(one, event.ces)]
        elif isinstance(event, TimerFired):
            effects = [effect for one in list(self.live.values()) for effect in self._look(one, now)]
        elif isinstance(event, LauncherLost | CoallocationCanceled):
            effects = self._of_job(event, now)
        else:
            effects = self._of_component(event, now)
        if effects or isinstance(event, TimerFired):
            effects += self._wake()
        return effects

    def _begin(self, event: CoallocationStarted, now: Now) -> list[Any]:
        if event.job in self.live:
            return []
        timeout = event.gather_timeout or self._timeout
        one = Coallocation(event.job, event.attempt, event.owner, event.placements, S.SUBMITTING, timeout)
        self.live[event.job] = one
        return [self._step(one, E.STARTED, now), *self._offer(one, now)]

    def _offer(self, one: Coallocation, now: Now) -> list[Any]:
        one.components = [COMPONENT_LIFE.after(None, N.OFFERED)] * len(one.placements)
        one.early.clear()
        one.deadline = now.monotonic + one.timeout
        return [
            OfferComponent(one.component(index), placement) for index, placement in enumerate(one.placements)
        ]

    def _recover(self, event: CoallocationRecovered, now: Now) -> list[Any]:
        if event.job in self.live:
            return []
        timeout = event.gather_timeout or self._timeout
        one = Coallocation(event.job, event.attempt, event.owner, event.placements, event.state, timeout)
        one.repeated = event.repeated
        self.live[event.job] = one
        self._entities.resume(event.job, event.state)
        offers = self._offer(one, now)
        if event.suspected:
            return self._fail(one, Reaction.HOLD, event.suspected, now)
        if event.state is S.SUBMITTING:
            return offers
        reached = C.RELEASED if event.state is S.RUNNING else C.CONFIRMED
        one.components = [reached] * len(one.placements)
        return self._ask_again(one, frozenset(each.ce.id for each in one.placements))

    def _ask_again(self, one: Coallocation, ces: frozenset[str]) -> list[Any]:
        """Repeat what these computing elements were asked for and have not answered."""
        kinds = {C.CONFIRMED: ConfirmComponent, C.CANCELED: CancelComponent}
        return [
            kinds[state](one.component(index), placement)
            for index, (state, placement) in enumerate(zip(one.components, one.placements, strict=True))
            if state in kinds and placement.ce.id in ces
        ]

    def _of_job(self, event: LauncherLost | CoallocationCanceled, now: Now) -> list[Any]:
        one = self.live.get(event.job)
        if one is None:
            return []
        if isinstance(event, CoallocationCanceled):
            return self._fail(one, Reaction.CANCEL, "Its owner asked for the end.", now)
        if event.attempt != one.attempt or one.state is S.ENDING:
            return []
        if one.state is S.RUNNING:
            return [self._step(one, E.ADOPTED, now, "A new launcher took it over.")]
        return self._fail(one, Reaction.REMATCH, "Its launcher died before the barrier was released.", now)

    def _of_component(self, event: OF_COMPONENT, now: Now) -> list[Any]:
        about = event.component
        one = self.live.get(about.job)
        if one is None or about.attempt != one.attempt or about.index >= len(one.components):
            return []
        if isinstance(event, AttemptAccepted):
            return self._accepted(one, about.index, now)
        if isinstance(event, AttemptStarted):
            if one.components[about.index] is C.OFFERED:
                return self._accepted(one, about.index, now)  # what runs was taken, whatever was lost of that
            self._move(one, about.index, N.STARTED)
            return []
        if isinstance(event, ComponentGathered):
            return self._arrived(one, about.index, now)
        return self._gone(one, about.index, event, now)

    def _move(self, one: Coallocation, index: int, event: ComponentEvent) -> bool:
        """Let something happen to a component; False if it says nothing new."""
        if not COMPONENT_LIFE.allows(one.components[index], event):
            return False
        one.components[index] = COMPONENT_LIFE.after(one.components[index], event)
        return True

    def _accepted(self, one: Coallocation, index: int, now: Now) -> list[Any]:
        if one.components[index] is C.CANCELED:
            # It was on its way when its removal was asked for.
            return [CancelComponent(one.component(index), one.placements[index])]
        if not self._move(one, index, N.ACCEPTED) or set(one.components) != {C.HELD}:
            return []
        effects: list[Any] = [self._step(one, E.ACCEPTED, now)]
        for number, placement in enumerate(one.placements):
            self._move(one, number, N.CONFIRMED)
            effects.append(ConfirmComponent(one.component(number), placement))
        for number in sorted(one.early):
            effects += self._arrived(one, number, now)
        return effects

    def _arrived(self, one: Coallocation, index: int, now: Now) -> list[Any]:
        if one.components[index] in (C.OFFERED, C.HELD):
            one.early.add(index)
            return []
        if not self._move(one, index, N.GATHERED) or one.gathered < len(one.components):
            return []
        for number in range(len(one.components)):
            self._move(one, number, N.RELEASED)
        return [self._step(one, E.RELEASED, now), ReleaseBarrier(one.job, one.attempt)]

    def _gone(
        self, one: Coallocation, index: int, event: AttemptRefused | AttemptEnded, now: Now
    ) -> list[Any]:
        if not self._move(one, index, N.ENDED):
            return []
        if one.state is S.ENDING:
            return self._settle(one, now)
        ce = one.placements[index].ce.id
        if isinstance(event, AttemptRefused):
            reaction = Reaction.REMATCH_DOWN if event.down else Reaction.REMATCH_RESTING
            return self._fail(one, reaction, f"{ce}: {event.reason}", now, (ce,))
        if one.state is S.RUNNING:
            if event.failure or event.exit_code != 0:
                why = event.reason or f"it ended with {_end_of(event)}"
                then = Reaction.REMATCH_RESTING if event.failure in GONE else Reaction.ABORT
                return self._fail(one, then, f"{ce}: {why}", now, (ce,))
            return self._finish(one, now) if set(one.components) == {C.ENDED} else []
        why = event.reason or f"it ended with {_end_of(event)} before the application started"
        if event.failure in _OF_SITE:
            return self._fail(one, Reaction.REMATCH_RESTING, f"{ce}: {why}", now, (ce,))
        again = Reaction.REMATCH_WITHOUT if one.repeated else Reaction.REPEAT
        return self._fail(one, again, f"{ce}: {why}", now, tuple(each.ce.id for each in one.placements))

    def _finish(self, one: Coallocation, now: Now) -> list[Any]:
        del self.live[one.job]
        everywhere = tuple(each.ce.id for each in one.placements)
        ended = CoallocationEnded(one.job, one.attempt, Reaction.FINISH, everywhere, "")
        return [self._step(one, E.FINISHED, now), ended]

    def _fail(
        self, one: Coallocation, reaction: Reaction, reason: str, now: Now, blamed: tuple[str, ...] = ()
    ) -> list[Any]:
        """Remove what is left (CB-ERR-7). A cancel overrides what was to follow; nothing else does."""
        effects: list[Any] = []
        if one.state is S.ENDING:
            if reaction is Reaction.CANCEL:
                one.reaction, one.reason = reaction, reason
            return effects
        one.reaction, one.reason, one.blamed = reaction, reason, blamed
        one.deadline = now.monotonic + CANCEL_AGAIN
        effects.append(self._step(one, E.FAILED, now, reason))
        for index, placement in enumerate(one.placements):
            if self._move(one, index, N.CANCELED):
                effects.append(CancelComponent(one.component(index), placement))
        return effects + self._settle(one, now)

    def _settle(self, one: Coallocation, now: Now) -> list[Any]:
        """What follows once every component is gone."""
        if set(one.components) != {C.ENDED}:
            return []
        if one.reaction is Reaction.REPEAT:
            one.repeated = True
            one.attempt += 1
            return [self._step(one, E.REPEATED, now, one.reason), *self._offer(one, now)]
        del self.live[one.job]
        ended = CoallocationEnded(one.job, one.attempt, one.reaction, one.blamed, one.reason)
        return [self._step(one, E.GIVEN_UP, now, one.reason), ended]

    def _look(self, one: Coallocation, now: Now) -> list[Any]:
        if one.state is S.RUNNING or now.monotonic < one.deadline:
            return []
        if one.state is S.ENDING:
            one.deadline = now.monotonic + CANCEL_AGAIN
            return self._ask_again(one, frozenset(each.ce.id for each in one.placements))
        reason = (
            f"{one.gathered} of {len(one.components)} components reached MPI_Init within {one.timeout:g} s."
        )
        return self._fail(one, Reaction.REMATCH, reason, now)

    def _wake(self) -> list[Any]:
        due = [one.deadline for one in self.live.values() if one.state is not S.RUNNING]
        return [Wake(min(due))] if due else []

    def _step(self, one: Coallocation, event: CoallocationEvent, now: Now, reason: str = "") -> RecordEvent:
        details: dict[str, Any] = {"attempt": one.attempt, "gathered": one.gathered}
        if event is E.FAILED:
            details["reaction"] = one.reaction
        step = self._entities.step(
            one.job, event, now, owner=one.owner, source=EventSource.AL, reason=reason, details=details
        )
        one.state = CoallocationState(step.event.new)
        return step

    def leaving(self, job: str) -> bool:
        """True if what is left of a job is being removed."""
        one = self.live.get(job)
        return one is not None and one.state is S.ENDING

    def validate(self) -> list[str]:
        """See `Reactor`."""
        return [
            *(f"{one.job} is {one.state} and recorded as {self._entities.state(one.job)}"
              for one in self.live.values() if self._entities.state(one.job) is not one.state),
            *(f"{one.job} is {one.state} with {sorted(set(one.components))}"
              for one in self.live.values() if not set(one.components) <= _TOGETHER[one.state]),
            *(f"{one.job} is Ending and nothing of it is left"
              for one in self.live.values() if one.state is S.ENDING and set(one.components) == {C.ENDED}),
        ]  # fmt: skip


def _end_of(event: AttemptEnded) -> str:
    if event.signal is not None:
        return f"signal {event.signal}"
    return f"exit code {event.exit_code}" if event.exit_code is not None else event.failure or "no exit code"
