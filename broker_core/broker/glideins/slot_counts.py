"""How many slots were there, and how many were used, over the last day: the day plot (CB-UI-10).

It is made of the log, which has every step of every slot, so it goes on where a killed broker left it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from broker_core.bookkeeping.sqlite.entity_reads import EntityStep
from broker_core.jobs.events import RecordedEvent, kind_of
from broker_core.scheduling.slots.slot_life import SlotState
from broker_core.wire.slots import SlotHistory

SLOT = "slot"
"""The kind of entity that a slot is."""
DAY = 86_400.0
"""Seconds that the plot goes back."""
MOST_POINTS = 4000
"""Points of one owner that are kept; of more, every second one of the older half goes."""
SHOWN = 600
"""Points that are told at most."""


@dataclass(frozen=True, slots=True)
class _Point:
    """What held from a moment on."""

    time: float
    there: int = 0
    used: int = 0
    opened: int = 0
    """Slots that were opened until then, since the log began."""
    claims: int = 0
    """Jobs that got a slot until then."""


class SlotCounts:
    """Follows the steps of slots, for each owner of glideins."""

    def __init__(self) -> None:
        self._points: dict[str, list[_Point]] = {}

    def take(self, steps: Iterable[EntityStep]) -> None:
        """Take in steps of slots in their order, as the log has them."""
        for time, owner, old, new in steps:
            self._step(time, owner, old, new)

    def follow(self, event: RecordedEvent) -> None:
        """Take in an event that was written just now, of whatever kind."""
        if kind_of(event.type) == SLOT:
            self._step(event.time, event.owner, event.old, event.new)

    def _step(self, time: float, owner: str, old: str | None, new: str) -> None:
        points = self._points.setdefault(owner, [])
        last = points[-1] if points else _Point(time)
        came, went = old is None, new == SlotState.CLOSED
        got, gave = new == SlotState.CLAIMED, old == SlotState.CLAIMED
        made = replace(
            last,
            time=max(time, last.time),  # a clock that was set back must not turn the plot back
            there=last.there + came - went,
            used=last.used + got - gave,
            opened=last.opened + came,
            claims=last.claims + got,
        )
        if points and made.time == last.time:
            points[-1] = made
        else:
            points.append(made)
        if len(points) > MOST_POINTS:
            half = len(points) // 2
            points[:half] = points[:half:2]

    def history(self, owner: str, now: float) -> SlotHistory:
        """The last day of an owner's slots, until now (seconds since the epoch)."""
        points = self._points.get(owner)
        if not points:
            return SlotHistory()
        begin, last = now - DAY, points[-1]
        behind = [point for point in points if point.time > begin]
        before = points[-len(behind) - 1] if len(behind) < len(points) else _Point(behind[0].time)
        step = -(-len(behind) // SHOWN) if behind else 1
        # Counted from the end, so that the last one is among them.
        shown = [replace(before, time=max(begin, before.time)), *behind[::-1][::step][::-1]]
        shown.append(replace(last, time=max(now, last.time)))
        return SlotHistory(
            times=[point.time for point in shown],
            there=[point.there for point in shown],
            used=[point.used for point in shown],
            opened=last.opened - before.opened,
            claims=last.claims - before.claims,
        )
