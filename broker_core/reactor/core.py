"""Several reactors as one: outer events go in, effects come out, internal events stay inside."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from broker_core.reactor.reactor import InternalEvent, Now, Reactor, TimerFired, Wake

REMEMBERED = 2000
"""Deliveries that are remembered."""
ROUNDS = 10_000
"""Internal events that may follow one outer event: more are reactors that answer each other for ever."""
R = TypeVar("R")
Trace = tuple[int, type, int]
"""What is remembered of a delivery: its cause, the type of its event, and the number of the reactor."""
Taker = tuple[int, Callable[[Any, Now], list[Any]], Trace]
"""Number of a reactor, its `handle`, and what is remembered of an event that comes from outside: it is
always the same, so that no object is made for it."""


class Delivery(NamedTuple):
    """An event that was handed to a reactor."""

    number: int
    """From 1, without gaps."""
    cause: int
    """Number of the delivery from which the event came; 0: it came from outside."""
    event: str
    """Its type."""
    reactor: str
    """The type of the reactor."""


class Restless(RuntimeError):
    """Reactors whose internal events follow each other without end: an error in the program."""


class Core:
    """Routes events by their types; internal ones are handed on, first come first served, until it is quiet.

    The earliest moment at which one of them wants to be woken goes out as the one `Wake`. When the timer
    fires all that take it are told, and each asks anew.
    """

    def __init__(self, reactors: Sequence[Reactor]) -> None:
        self.reactors = tuple(reactors)
        self._takers: dict[type, tuple[Taker, ...]] = {}
        for index, reactor in enumerate(self.reactors):
            for taken in reactor.takes:
                taker = index, reactor.handle, (0, taken, index)
                self._takers[taken] = (*self._takers.get(taken, ()), taker)
        internal = frozenset(filter(_is_internal, self._given()))
        self._inside = internal | {Wake}
        """Effects that do not leave the core as they are."""
        heeded = {kind for kind in internal if kind in self._takers}
        self._joined = frozenset(heeded | {Wake} if len(self.reactors) > 1 else heeded)
        """Effects that mean more work: a reactor takes them, or one wake is to be made of several."""
        self._not_passed = internal | self._joined
        self._wakes = [math.inf] * len(self.reactors)
        self._recent: deque[Trace] = deque(maxlen=REMEMBERED)
        self._number = 0
        """Of the last delivery; those before it have the numbers before."""

    @property
    def gives(self) -> frozenset[type]:
        """The types of effects that come out; each needs somebody who carries it out."""
        return (self._given() - self._inside) | {Wake}

    def _given(self) -> frozenset[type]:
        return frozenset[type]().union(*(reactor.gives for reactor in self.reactors))

    def part(self, kind: type[R]) -> R:
        """The one reactor of a type; raises LookupError."""
        for reactor in self.reactors:
            if isinstance(reactor, kind):
                return reactor
        raise LookupError(f"there is no {kind.__name__} among the reactors")

    def recent(self) -> list[Delivery]:
        """The last deliveries, oldest first: what followed from what."""
        names = [type(reactor).__name__ for reactor in self.reactors]
        first = self._number - len(self._recent) + 1
        return [
            Delivery(number, cause, kind.__name__, names[at])
            for number, (cause, kind, at) in enumerate(self._recent, first)
        ]

    def validate(self) -> list[str]:
        """What does not fit together in the state of the reactors, in words."""
        return [problem for reactor in self.reactors for problem in reactor.validate()]

    def handle(self, event: Any, now: Now) -> list[object]:
        """The effects of an outer event, in order; raises TypeError for one that no reactor takes."""
        kind = type(event)
        takers = self._takers.get(kind)
        if takers is None:
            raise TypeError(f"no reactor takes {kind.__name__}")
        if kind is TimerFired:
            self._wakes = [math.inf] * len(self.reactors)
        # The first delivery is written out: most events are for one reactor, and end here.
        _, handle, trace = takers[0]
        self._number += 1
        self._recent.append(trace)
        first = handle(event, now)
        effects: list[object] = []
        if len(takers) == 1:
            for effect in first:
                if type(effect) not in self._not_passed:
                    effects.append(effect)
                elif type(effect) in self._joined:
                    effects = []
                    break
            else:
                return effects
        internal: list[tuple[object, int]] = []
        woken = self._sort(first, takers[0], effects, internal)
        for taker in takers[1:]:
            woken |= self._sort(self._deliver(event, taker, 0, now), taker, effects, internal)
        for done, (following, cause) in enumerate(internal, 1):
            if done > ROUNDS:
                raise Restless(f"{ROUNDS} internal events in a row, the last {type(following).__name__}")
            for taker in self._takers[type(following)]:
                woken |= self._sort(self._deliver(following, taker, cause, now), taker, effects, internal)
        if woken:
            effects.append(Wake(min(self._wakes)))
        return effects

    def _deliver(self, event: object, taker: Taker, cause: int, now: Now) -> list[Any]:
        index, handle, _ = taker
        self._number += 1
        self._recent.append((cause, type(event), index))
        return handle(event, now)

    def _sort(
        self, given: list[Any], taker: Taker, effects: list[object], internal: list[tuple[object, int]]
    ) -> bool:
        """What a reactor gave: what goes out, and what others take; True if it wants to be woken."""
        woken = False
        for effect in given:
            if type(effect) not in self._inside:
                effects.append(effect)
            elif type(effect) is Wake:
                self._wakes[taker[0]] = effect.at
                woken = True
            elif type(effect) in self._takers:
                internal.append((effect, self._number))
        return woken


def _is_internal(kind: type) -> bool:
    return issubclass(kind, InternalEvent)
