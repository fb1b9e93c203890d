"""Sites, launchers and owners around the production reactor: what they do and in which order is drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.placement import Component, Placement, computing_element
from broker_core.reactor.core import Core
from broker_core.reactor.entities import RecordEvent
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.resources.locks import Locks
from broker_core.scheduling.coallocation.coallocations import Coallocations
from broker_core.scheduling.coallocation.messages import (
    CancelComponent,
    CoallocationCanceled,
    CoallocationEnded,
    CoallocationStarted,
    ComponentGathered,
    ConfirmComponent,
    LauncherLost,
    OfferComponent,
    Reaction,
    ReleaseBarrier,
)

TIMEOUT = 100.0
FOREVER = 1e9
Choose = Callable[[int], int]
"""Draws a number below another one."""


def ce(name: str) -> str:
    return f"{name}:22/jobmanager-slurm-main"


class World:
    """Some co-allocations that compete for sites, until all are over."""

    def __init__(self, wanted: dict[str, tuple[str, ...]], choose: Choose) -> None:
        """`wanted`: job to the names of its sites."""
        self.wanted = wanted
        self.choose = choose
        self.time = 0.0
        self.reactor = Coallocations(itertools.count(1).__next__, TIMEOUT)
        self.core = Core([self.reactor])
        self.locks = Locks()
        self.waiting = list(wanted)
        self.pending: list[Any] = []
        """Messages on their way, in any order."""
        self.there: set[Component] = set()
        """What is at sites."""
        self.gathered: set[Component] = set()
        self.silent: set[Component] = set()
        """What its site takes, and never says so."""
        self.released: list[tuple[str, int]] = []
        self.ends: dict[str, CoallocationEnded] = {}
        self.steps: list[tuple[str, str]] = []
        self.rounds = dict.fromkeys(wanted, 0)
        self.wake: float | None = None

    def run(self) -> None:
        """Until nothing moves any more."""
        for _ in range(5000):
            self._begin_what_can()
            if self.pending:
                self._tell(self.pending.pop(self.choose(len(self.pending))))
            elif self.wake is not None:
                self.time, self.wake = max(self.time, self.wake), None
                self._tell(TimerFired())
            else:
                return
        raise AssertionError("it never comes to rest")

    def _begin_what_can(self) -> None:
        for job in list(self.waiting):
            sites = self.wanted[job]
            if self.locks.take([ce(site) for site in sites], job, self.time, FOREVER):
                self.waiting.remove(job)
                placements = tuple(Placement(computing_element(ce(site)), 2) for site in sites)
                # Numbers of attempts grow over all rounds.
                attempt = 1 + 10 * self.rounds[job]
                self._carry(self.reactor.handle(CoallocationStarted(job, attempt, "u", placements), self.now))

    @property
    def now(self) -> Now:
        return Now(self.time, self.time)

    def _tell(self, message: Any) -> None:
        for _ in range(1 + (self.choose(8) == 0)):
            # Some messages come twice.
            self._carry(self.reactor.handle(message, self.now))
        assert self.core.validate() == []

    def _carry(self, effects: list[Any]) -> None:
        for effect in effects:
            if isinstance(effect, Wake):
                self.wake = effect.at
            elif isinstance(effect, RecordEvent):
                self.steps.append((effect.event.subject, str(effect.event.type)))
            elif isinstance(effect, CoallocationEnded):
                self._over(effect)
            elif isinstance(effect, ReleaseBarrier):
                self._release(effect)
            else:
                self._at_site(effect)

    def _at_site(self, effect: OfferComponent | ConfirmComponent | CancelComponent) -> None:
        one = effect.component
        if isinstance(effect, OfferComponent):
            self._offered(one)
        elif isinstance(effect, ConfirmComponent):
            assert one in self.there
            self._confirmed(one)
        else:
            # The site answers for what it never had, too.
            self._leaves(one, failure="killed")

    def _offered(self, one: Component) -> None:
        luck = self.choose(10)
        if luck == 0:
            self.pending.append(AttemptRefused(one, "no room", down=bool(self.choose(2))))
            return
        self.there.add(one)
        if luck == 1:
            self.silent.add(one)
        else:
            self.pending.append(AttemptAccepted(one, "17", held=True))

    def _confirmed(self, one: Component) -> None:
        luck = self.choose(12)
        self.pending.append(AttemptStarted(one, self.time))
        if luck == 0:
            self._leaves(one, exit_code=1)
        elif luck == 1:
            self._leaves(one, failure="lost")
        elif luck == 2:
            self.pending.append(LauncherLost(one.job, one.attempt))
        elif luck == 3:
            self.pending.append(CoallocationCanceled(one.job))
        if luck != 4 and one in self.there:
            self.gathered.add(one)
            self.pending.append(ComponentGathered(one))

    def _leaves(self, one: Component, exit_code: int | None = None, failure: str = "") -> None:
        self.there.discard(one)
        self.pending.append(AttemptEnded(one, self.time, exit_code=exit_code, failure=failure))

    def _release(self, effect: ReleaseBarrier) -> None:
        size = len(self.wanted[effect.job])
        mine = {Component(effect.job, effect.attempt, index) for index in range(size)}
        assert mine <= self.gathered, "the barrier is released for those who wait there, and for all of them"
        self.released.append((effect.job, effect.attempt))
        for one in sorted(mine, key=lambda each: each.index):
            if self.choose(15) == 0:
                self.pending.append(LauncherLost(one.job, one.attempt))
            if one in self.there:
                self._leaves(one, exit_code=int(self.choose(10) == 0))

    def _over(self, ended: CoallocationEnded) -> None:
        left = {one for one in self.there if one.job == ended.job}
        assert left == set(), "nothing is left behind when it is over"
        self.ends[ended.job] = ended
        for name in list(self.locks.of_job(ended.job)):
            self.locks.end(name)
        again = ended.reaction not in (Reaction.FINISH, Reaction.ABORT, Reaction.CANCEL)
        if again and self.rounds[ended.job] < 4:
            self.rounds[ended.job] += 1
            self.waiting.append(ended.job)
