"""How the values of clauses and the verdicts on resources look: a shape, a colour token and words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.widgets.state_style import StateShape

if TYPE_CHECKING:
    from broker_core.wire.matches import MatchedResource

VALUES: dict[str, tuple[StateShape, str, str]] = {
    "true": (StateShape.CHECK, "positive", "yes"),
    "false": (StateShape.CROSS, "negative", "no"),
    "undefined": (StateShape.QUESTION, "warning", "not known here"),
    "error": (StateShape.EXCLAMATION, "negative", "cannot be evaluated"),
}
"""Value of a clause to its shape, colour token and words."""

ORIGINS = {
    "requirements": "Requirements of the description",
    "cpus": "Number of CPUs",
    "status": "State of the site",
    "authorisation": "Who may use it",
    "software": "Software it must have",
    "policy": "Rule of the broker",
    "tag": "Limit set by the site",
    "kind": "Kind of job",
    "lock": "In use by another choice",
    "stale": "Age of what is known",
    "access": "Account at the site",
    "nodes": "What the job asks for",
}
"""Origin of a clause to its words."""


def origin_words(origin: str) -> str:
    """Say where a condition comes from; what a newer broker may know is said by its own name."""
    return ORIGINS.get(origin, origin.capitalize())


def verdict(one: MatchedResource) -> tuple[StateShape, str, str]:
    """Return shape, colour token and words of whether a resource matches."""
    if one.matches:
        return StateShape.CHECK, "positive", "Matches"
    if one.now_only:
        return StateShape.HALF, "warning", "Not now"
    return StateShape.CROSS, "negative", "Does not match"


def rank_words(rank: float | None) -> str:
    """Say a rank; empty where there is none."""
    return "" if rank is None else f"{rank:,.6g}"


def sentence(text: str) -> str:
    """Make a whole sentence of a reason."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) or not text else ".")
