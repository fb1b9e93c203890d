"""A job while the Scheduling Agent has it."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.jobs.failure_history import ChoiceFailure, FailureHistory
from broker_core.jobs.immutable import immutable
from broker_core.jobs.placement import Placement, computing_element, listed
from broker_core.jobs.record import JobRecord
from broker_core.jobs.site_names import site_names
from broker_core.jobs.states import JobState
from broker_core.scheduling.demand import Demand

AT_SITE = frozenset({JobState.READY, JobState.SCHEDULED, JobState.RUNNING})
"""States in which an attempt exists and takes processors."""


@immutable
class NoAttempt:
    """It is at no site."""


@immutable
class HandingOver:
    """It is on its way; whether its site has it is not known yet."""


@immutable
class InDoubt:
    """It was on its way whenever the broker died: its site is only asked whether it has it (case 24)."""


@immutable
class AtSite:
    """Its site has it, waiting or running."""

    held: bool = False
    """Its site starts it only after a Confirm."""
    queued_since: float | None = None
    """Monotonic time since which it waits there, if it may not wait there for long."""
    runs_since: float | None = None
    """Monotonic time since which the site says that it runs it, without a word of the attempt itself."""
    given_up: str = ""
    """Why the broker itself asked the site to end it; empty: it did not."""


LiveAttempt = NoAttempt | HandingOver | InDoubt | AtSite
NO_ATTEMPT, HANDING_OVER, IN_DOUBT = NoAttempt(), HandingOver(), InDoubt()
HELD, STARTS_ITSELF = AtSite(held=True), AtSite()


@dataclass(slots=True)
class LiveJob:
    """The record and what is known beyond it; after a restart that is made anew, or read from its events."""

    record: JobRecord
    demand: Demand
    order: int
    """Place in the order of arrival (CB-SCH-07)."""
    ces: tuple[str, ...] = ()
    """Ids of the computing elements of the current attempt; none while it has none."""
    shares: tuple[int, ...] = ()
    """Processors at each of them."""
    round_tried: tuple[str, ...] = ()
    """Choices of this round that did not take it, each once (SA-LCH-01)."""
    excluded: frozenset[str] = frozenset()
    """Computing elements that this job must not meet again (CB-ERR-6)."""
    tried: tuple[ChoiceFailure, ...] = ()
    """What went wrong so far, oldest first."""
    rounds: int = 0
    """Failed rounds of CB-ERR-6."""
    tries: int = 1
    """How often the current resource was tried, this attempt included (CB-ERR-3)."""
    infeasible_since: float | None = None
    """Monotonic time since which no known resource could ever run it."""
    hold: str = ""
    """Reason to put it on hold as soon as it is taken over."""
    attempt: LiveAttempt = NO_ATTEMPT
    """How far its current attempt has come, beyond what the record says."""
    died: tuple[str, ...] = ()
    """Sites where its starter or agent died, as in `FailureHistory`."""

    id: str = field(init=False)
    """Job id."""

    def __post_init__(self) -> None:
        self.id = self.record.id

    def remember(self, past: FailureHistory) -> None:
        """Take over what its events say of its troubles."""
        self.rounds, self.tried, self.died = past.rounds, past.tried, past.died
        self.excluded, self.tries = frozenset(past.excluded), 2 if past.retried else 1
        self.shares = past.shares

    def fresh(self) -> None:
        """Its owner gives it a new try: troubles count from the beginning."""
        self.rounds, self.died = 0, ()

    @property
    def held(self) -> bool:
        """Its site has it and starts it only after a Confirm."""
        return isinstance(self.attempt, AtSite) and self.attempt.held

    @property
    def runs_since(self) -> float | None:
        """See `AtSite`."""
        return self.attempt.runs_since if isinstance(self.attempt, AtSite) else None

    @property
    def queued_since(self) -> float | None:
        """See `AtSite`."""
        return self.attempt.queued_since if isinstance(self.attempt, AtSite) else None

    @property
    def given_up(self) -> str:
        """See `AtSite`."""
        return self.attempt.given_up if isinstance(self.attempt, AtSite) else ""

    @property
    def placements(self) -> tuple[Placement, ...]:
        """What it has at each computing element of the current attempt."""
        if len(self.shares) != len(self.ces):
            return self.record.placements
        return tuple(map(Placement, map(computing_element, self.ces), self.shares))

    @property
    def where(self) -> str:
        """The computing elements of the current attempt, for people."""
        return listed(self.ces)

    @property
    def sites(self) -> str:
        """Names of the sites of the current attempt, for people."""
        return site_names(self.ces)

    @property
    def at_site(self) -> bool:
        """True while an attempt exists."""
        return self.record.state in AT_SITE

    @property
    def canceling(self) -> bool:
        """True once its owner asked to cancel it."""
        return self.record.canceling is not None
