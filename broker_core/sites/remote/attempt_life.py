"""The life of an attempt at a remote site: its states with what only they have, and their table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable
from broker_core.worker.markers import StartedMark


@dataclass(frozen=True, slots=True)
class Sought:
    """The site may have it: found again after a restart, or the answer to its submission was lost."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A submission is under way; nothing has been heard of it."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """The site has it; its Job Starter has not begun, as far as is known."""

    since: float
    """When the site was first known to have it, by the monotonic clock."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Its Job Starter has begun."""

    since: float
    """As of `Arrived`."""
    mark: StartedMark


@dataclass(frozen=True, slots=True)
class Ending:
    """Its end is known; the site is told so, or its files are being brought."""

    reached: Reached
    """How far it came; what is heard of that late still counts."""


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing of it is awaited any more; should the site still have it, it is ended there."""


Reached = Sought | Offered | Arrived | Begun
Life = Reached | Ending | Over


class AttemptEvent(StrEnum):
    """What happens to an attempt; the value is for people."""

    FOUND = "found"
    """The broker names it: after a restart, or to submit or cancel it."""
    OFFERED = "offered"
    """It is handed over, once more perhaps."""
    UNANSWERED = "unanswered"
    """The submission is over, and whether the site took it is not known."""
    ARRIVED = "arrived"
    """The site took it, or was seen to have it."""
    BEGUN = "begun"
    """Its starter's first marker was seen."""
    ENDED = "ended"
    """Its starter's last marker was seen, or the site has it no more."""
    REPORTED = "reported"
    """The engine has its end."""
    REFUSED = "refused"
    """The site did not take it."""
    LEASE_ENDED = "lease ended"
    """Its starter has ended it, since nobody renewed the lease."""


E = AttemptEvent
_HERE: tuple[type[Reached], ...] = (Sought, Offered, Arrived, Begun)

ATTEMPT_LIFE: TransitionTable[type[Life], AttemptEvent] = TransitionTable(
    "an attempt at a remote site",
    (*_HERE, Ending, Over),
    AttemptEvent,
    frozenset({Over}),
    {
        (None, E.FOUND): Sought,
        (Sought, E.OFFERED): Offered,
        (Offered, E.OFFERED): Offered,
        (Offered, E.UNANSWERED): Sought,
        (Sought, E.ARRIVED): Arrived,
        (Offered, E.ARRIVED): Arrived,
        (Arrived, E.ARRIVED): Arrived,
        (Arrived, E.BEGUN): Begun,
        (Begun, E.ARRIVED): Begun,
        **{(state, E.ENDED): Ending for state in _HERE},
        **{(Ending, event): Ending for event in (E.OFFERED, E.UNANSWERED, E.ARRIVED, E.BEGUN)},
        **{(state, E.REPORTED): Over for state in (*_HERE, Ending)},
        **{(state, E.REFUSED): Over for state in (*_HERE, Ending)},
        **{(state, E.LEASE_ENDED): Over for state in _HERE},
    },
)
"""What the engine is told of is no part of it: see `remote_attempt`."""


def offered(life: Life) -> Life:
    """It is handed over; raises IllegalTransition, as all these do. What the site has stays there."""
    return _step(life, E.OFFERED, Offered())


def unanswered(life: Life) -> Life:
    """A submission is over. Where the site has the attempt meanwhile, the answer matters no more."""
    return _step(life, E.UNANSWERED, Sought()) if isinstance(reached(life), Offered) else life


def arrived(life: Life, now: float) -> Life:
    """The site has it since `now` at the latest."""
    before = reached(life)
    return _step(life, E.ARRIVED, Begun(now, before.mark) if isinstance(before, Begun) else Arrived(now))


def begun(life: Life, mark: StartedMark) -> Life:
    """Its starter has begun, at a site that is known to have it."""
    before = reached(life)
    assert isinstance(before, Arrived)
    return _step(life, E.BEGUN, Begun(before.since, mark))


def ending(life: Life) -> Life:
    """Its end is known."""
    return _step(life, E.ENDED, reached(life))


def over(life: Life, event: AttemptEvent) -> Life:
    """Nothing of it is awaited any more. `event`: REPORTED, REFUSED or LEASE_ENDED."""
    return _step(life, event, reached(life))


def reached(life: Life) -> Reached:
    """How far an attempt has come; that of one that is over is not asked for."""
    if isinstance(life, Ending):
        return life.reached
    return Sought() if isinstance(life, Over) else life


def _step(life: Life, event: AttemptEvent, then: Reached) -> Life:
    after = ATTEMPT_LIFE.after(type(life), event)
    if after is Over:
        return Over()
    if after is Ending:
        return Ending(then)
    assert after is type(then), f"{event.value} leads to {after.__name__}, not to {type(then).__name__}"
    return then
