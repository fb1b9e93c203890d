"""Where an interactive job starts: free processors, slots, or both at one site (CB-SCH-08, CB-SCH-08a)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from broker_core.jobs.immutable import immutable


class InteractiveMode(StrEnum):
    """In which order an interactive job is given what there is; a setting of the broker."""

    EXCLUSIVE = "exclusive"
    """Free processors only."""
    FREE_FIRST = "free_first"
    """Free processors, then slots, then both at one site."""
    SLOTS_FIRST = "slots_first"
    """Slots, then free processors, then both at one site."""


@immutable
class InteractiveCapacity:
    """What one computing element has for an interactive job now."""

    ce: str
    free: int
    """Processors that nobody uses."""
    slots: int
    """Interactive slots that the job may have."""


@immutable
class InteractiveChoice:
    """What an interactive job gets, all at one computing element."""

    ce: str
    cpus: int
    """Free processors: started without a glidein."""
    slots: int


def choose(
    cpus: int, candidates: Sequence[InteractiveCapacity], mode: InteractiveMode = InteractiveMode.FREE_FIRST
) -> InteractiveChoice | None:
    """The first way that gives all processors at once; None: the job is refused (CB-SCH-08).

    `candidates`: computing elements that match, in the order of the policy. A running interactive job is
    never pre-empted: its slot and processors are not among them.
    """
    free = (InteractiveChoice(one.ce, cpus, 0) for one in candidates if one.free >= cpus)
    slots = (InteractiveChoice(one.ce, 0, cpus) for one in candidates if one.slots >= cpus)
    ways: Iterable[Iterable[InteractiveChoice]] = {
        InteractiveMode.EXCLUSIVE: (free,),
        InteractiveMode.FREE_FIRST: (free, slots, _mixed(cpus, candidates, mode)),
        InteractiveMode.SLOTS_FIRST: (slots, free, _mixed(cpus, candidates, mode)),
    }[mode]
    return next((choice for way in ways for choice in way), None)


def _mixed(
    cpus: int, candidates: Sequence[InteractiveCapacity], mode: InteractiveMode
) -> Iterable[InteractiveChoice]:
    for one in candidates:
        if one.free + one.slots >= cpus:
            slots = min(one.slots, cpus) if mode is InteractiveMode.SLOTS_FIRST else cpus - one.free
            yield InteractiveChoice(one.ce, cpus - slots, slots)
