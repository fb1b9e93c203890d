"""The one place where a policy is called: nothing that it does can break the scheduler (CB-SCH-03)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from broker_core.policies.built_in import best_fit
from broker_core.policies.policy import Choices, Policy, Request


@dataclass(frozen=True, slots=True)
class Arranged:
    """The order that counts."""

    places: list[int]
    """Positions of the choices; each at most once."""
    problem: str = ""
    """Why the built-in order was taken instead; empty if the policy did well. To be logged."""


def arranged(policy: Policy, choices: Choices, request: Request) -> Arranged:
    """The order by a policy; by the built-in one if it fails, or adds what was not there."""
    if policy is best_fit:
        return Arranged(best_fit(choices, request).tolist())
    try:
        places = [int(place) for place in policy(choices, request)]
    except Exception as problem:  # noqa: BLE001 - a plug-in may raise anything
        return _fallen_back(f"{type(problem).__name__}: {problem}", choices, request)
    wrong = _added(places, len(choices))
    return _fallen_back(wrong, choices, request) if wrong else Arranged(places)


def _added(places: Sequence[int], known: int) -> str:
    strange = next((place for place in places if not 0 <= place < known), None)
    if strange is not None:
        return f"it named choice {strange}, but there are only {known}"
    return "it named a choice twice" if len(set(places)) < len(places) else ""


def _fallen_back(problem: str, choices: Choices, request: Request) -> Arranged:
    return Arranged(best_fit(choices, request).tolist(), problem)


def failed(name: str, problem: str) -> str:
    """The sentence for users who asked for a policy that failed; empty without a problem."""
    return f"The policy {name} failed, the built-in order counts: {problem}." if problem else ""
