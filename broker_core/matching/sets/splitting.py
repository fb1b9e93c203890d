"""How many CPUs a flexible job uses at each member of its set (CB-SET-12)."""

from __future__ import annotations

from collections.abc import Sequence


def split(free: Sequence[int], need: int) -> tuple[int, ...]:
    """CPUs at each member: those with most free CPUs are filled first, the last one gets the rest.

    Of a smallest group every member gets at least one. The order of equal members is theirs in `free`.
    """
    given = [0] * len(free)
    for place in sorted(range(len(free)), key=lambda one: -free[one]):
        given[place] = min(free[place], need)
        need -= given[place]
    return tuple(given)
