"""What one source said last of one computing element, kept in little room."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.resources.facts import Facts, SourceHeard
from broker_core.resources.values import COUNTS, TOTALS

STALE_AFTER = 3
"""Intervals of its source without a word after which an entry is stale (CB-CACHE-07)."""

_SHAPES, _LISTS = 10_000, 200_000
"""What is kept once at most; a source that says something new each time fills no memory."""
_MOST = 2**31 - 1
"""Most CPUs or jobs that are believed."""
_TOTAL = ("glueceinfototalcpus", *sorted(TOTALS))
_OF_COUNT: Mapping[str, tuple[str, ...]] = {
    "total": _TOTAL,
    "free": tuple(name for name, count in COUNTS.items() if count == "free"),
    "running": tuple(name for name, count in COUNTS.items() if count == "running"),
    "waiting": tuple(name for name, count in COUNTS.items() if count == "waiting"),
}


class FactNames:
    """The names of one kind of answer: thousands of resources of a source share them."""

    __slots__ = ("keys", "names", "rest")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.keys = tuple(name.lower() for name in names)
        counts = COUNTS.keys() | TOTALS
        self.rest = tuple(place for place, key in enumerate(self.keys) if key not in counts)
        """Places of the values that are no counts."""


@dataclass(slots=True)
class Observation:
    """Values of a resource by one source; equal strings and lists are kept once."""

    time: float
    """Seconds since the epoch."""
    monotonic: float
    due: float
    """When it is stale, by the monotonic clock."""
    account: bool
    shape: FactNames
    values: tuple[Any, ...]
    static: frozenset[str]

    def same_facts(self, other: Observation) -> bool:
        """True if nothing but counts may differ."""
        if self.shape is not other.shape:
            return False
        mine, theirs = self.values, other.values
        return all(mine[place] == theirs[place] for place in self.shape.rest)


class Shelf:
    """Makes hearings; knows every shape and every list of tags that was met."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, ...], FactNames] = {}
        self._lists: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def hearing(self, facts: Facts, said: SourceHeard) -> Observation:
        """What a message says of one resource."""
        names = tuple(facts.attributes)
        shape = self._shapes.get(names)
        if shape is None:
            if len(self._shapes) >= _SHAPES:
                self._shapes.clear()
            shape = self._shapes[names] = FactNames(tuple(map(sys.intern, names)))
        due = said.monotonic + STALE_AFTER * said.interval
        values = tuple([self._kept(value) for value in facts.attributes.values()])
        return Observation(said.time, said.monotonic, due, said.account, shape, values, facts.static)

    def _kept(self, value: Any) -> Any:
        if type(value) is str:
            return sys.intern(value)
        if isinstance(value, list | tuple | set | frozenset):
            return self._list(tuple(sorted(value) if isinstance(value, set | frozenset) else value))
        return value

    def _list(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(self._lists) >= _LISTS:
            self._lists.clear()
        try:
            return self._lists.setdefault(values, values)
        except TypeError:
            return values  # a list of lists, which nothing publishes and nothing forbids


def merged(hearings: Sequence[Observation]) -> dict[str, Any]:
    """The newest value of each attribute (CB-CACHE-02) by the name under which it was published."""
    if len(hearings) == 1:
        only = hearings[0]
        return dict(zip(only.shape.names, only.values, strict=True))
    found: dict[str, tuple[str, Any]] = {}
    for one in sorted(hearings, key=lambda hearing: hearing.monotonic):
        for key, name, value in zip(one.shape.keys, one.shape.names, one.values, strict=True):
            found[key] = name, value
    return dict(found.values())


def counts_of(hearings: Sequence[Observation]) -> tuple[int, int, int, int]:
    """Published CPUs in total and free, jobs running and waiting.

    Where the site itself was heard through an account of the user, its own word counts; else the newest.
    A site that says nothing of its CPUs in total has those that are free.
    """
    best = max(hearings, key=lambda hearing: (hearing.account, hearing.monotonic))
    known = dict(zip(best.shape.keys, best.values, strict=True))
    if len(hearings) > 1:
        others = merged([one for one in hearings if one is not best])
        known = {name.lower(): value for name, value in others.items()} | known
    total, free, running, waiting = (_first(known, names) for names in _OF_COUNT.values())
    return max(total, free), free, running, waiting


def _first(known: Mapping[str, Any], names: Sequence[str]) -> int:
    for name in names:
        value = known.get(name)
        if type(value) is int:
            return min(max(0, value), _MOST)
    return 0
