"""What went wrong with a job so far, kept in its events so that no restart of the broker forgets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.jobs.components import SHARES, steps_of
from broker_core.jobs.events import JobEvent
from broker_core.jobs.immutable import immutable
from broker_core.jobs.placement import ids_in, listed
from broker_core.jobs.transitions import EventType

E = EventType
KEPT = 10
"""Troubles of a job that are kept with each of its events that tell of one."""
_BEGIN = frozenset({E.MATCHED, E.CHOICE_FAILED})
_NO_PROGRESS = frozenset(
    {E.BROKER_DIED, E.MESSAGE_LATE, E.CANCEL_REQUESTED, E.COMPONENT_CHANGED, E.GIVEN_UP}
)
"""Of one component alone, or of nothing: the attempt is on its way as before."""


@immutable
class ChoiceFailure:
    """One choice that did not take or did not keep a job."""

    ces: tuple[str, ...]
    """Ids of its computing elements."""
    error: str

    def __str__(self) -> str:
        return f"{listed(self.ces)}: {self.error}"

    def details(self) -> dict[str, Any]:
        """As events keep it."""
        return {"ces": list(self.ces), "error": self.error}


@immutable
class FailureHistory:
    """The troubles of a job."""

    rounds: int = 0
    """Failed rounds of CB-ERR-6."""
    excluded: tuple[str, ...] = ()
    """Computing elements that it must not meet again."""
    tried: tuple[ChoiceFailure, ...] = ()
    """What went wrong, oldest first."""
    died: tuple[str, ...] = ()
    """Sites where its starter or agent died: before the program began, each once; after that, each time
    (reliability case 24)."""
    retried: bool = False
    """The current resource has had its second try (CB-ERR-3)."""
    shares: tuple[int, ...] = ()
    """Processors at each computing element of the last choice, where it has several."""
    component_steps: frozenset[tuple[int, str]] = frozenset()
    """What is recorded of the components of the current attempt, as in `components`."""
    deaths: int = 0
    """How often the broker died while this attempt was on its way to a site (reliability case 24)."""

    def details(self) -> dict[str, Any]:
        """The same for the details of an event, under the name `past`."""
        found = {
            "rounds": self.rounds,
            "excluded": list(self.excluded),
            "tried": [one.details() for one in self.tried[-KEPT:]],
            "died": list(self.died),
        }
        return {"past": {name: value for name, value in found.items() if value}}


def past_of(events: Sequence[JobEvent]) -> FailureHistory:
    """What a job's events, oldest first, say of its troubles."""
    kept = (event.details["past"] for event in reversed(events) if "past" in event.details)
    told: dict[str, Any] = next(kept, {})
    return FailureHistory(
        rounds=int(told.get("rounds", 0)),
        excluded=tuple(told.get("excluded", ())),
        tried=tuple(_failure(one) for one in told.get("tried", ())),
        died=tuple(told.get("died", ())),
        retried=_retried(events),
        shares=_shares(events),
        component_steps=steps_of(events),
        deaths=_deaths(events),
    )


def _failure(stored: dict[str, Any] | str) -> ChoiceFailure:
    """One failure of an event; older versions wrote a text, `ce, ce: error`."""
    if isinstance(stored, str):
        choice, _, error = stored.partition(": ")
        return ChoiceFailure(ids_in(choice), error)
    return ChoiceFailure(tuple(stored["ces"]), str(stored["error"]))


def _retried(events: Sequence[JobEvent]) -> bool:
    begun = (event.type for event in reversed(events) if event.type is E.RETRIED or event.type in _BEGIN)
    return next(begun, None) is E.RETRIED


def _shares(events: Sequence[JobEvent]) -> tuple[int, ...]:
    begun = (event.details for event in reversed(events) if event.type in _BEGIN)
    return tuple(next(begun, {}).get(SHARES, ()))


def _deaths(events: Sequence[JobEvent]) -> int:
    deaths = 0
    for event in reversed(events):
        if event.type not in _NO_PROGRESS:
            break
        deaths += event.type is E.BROKER_DIED
    return deaths
