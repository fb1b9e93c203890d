"""How the choices of a waiting job fared: which is being tried, and which did not take it (SA-UI-01)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from app import units
from app.widgets.match_style import sentence
from app.widgets.state_style import StateShape
from broker_core.jobs.site_names import choice_words

if TYPE_CHECKING:
    from broker_core.wire.queue import FailedChoice, WhyView

_NAMED = 3
"""Failed choices that are named in words."""
TRYING, FAILED = "being tried", "failed"


class TriedChoices:
    """Marks of choices, each known by its computing elements."""

    def __init__(self, trying: Iterable[str] = (), failed: Iterable[FailedChoice] = ()) -> None:
        self._trying = frozenset(trying)
        self._failed = {frozenset(one.ces): one.error for one in failed}

    def error(self, ces: Collection[str]) -> str:
        """What went wrong with a choice when it was tried last, as a sentence; empty: nothing did."""
        key = frozenset(ces)
        return "" if key == self._trying else sentence(self._failed.get(key, ""))

    def badge(self, ces: Collection[str]) -> str:
        """The word that marks a choice; empty for one that was not tried."""
        if self._trying and frozenset(ces) == self._trying:
            return TRYING
        return FAILED if self.error(ces) else ""

    def glyph(self, ces: Collection[str]) -> tuple[StateShape, str] | None:
        """Shape and color token of a choice that was tried; None for any other."""
        if self._trying and frozenset(ces) == self._trying:
            return StateShape.HALF, "accent"
        return (StateShape.EXCLAMATION, "negative") if self.error(ces) else None


def tried_words(why: WhyView) -> str:
    """Say what is being tried, what failed last, and when the next round of selection is."""
    lines = [f"Being tried now: {choice_words(why.trying)}."] if why.trying else []
    if len(why.failed) > _NAMED:
        lines.append(f"{units.count(len(why.failed) - _NAMED, 'earlier choice')} did not take it either.")
    lines += [
        f"{choice_words(one.ces)} did not take it: {one.error.rstrip('. ')}."
        for one in why.failed[-_NAMED:]
    ]
    if why.next_round is not None:
        lines.append(f"The next selection round is at {units.clock(why.next_round)} at the latest.")
    return "\n".join(lines)
