"""Sites that cannot be used now, by the state of the connection to them or because they are drained."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from broker_core.jobs.placement import computing_element
from broker_core.resources.entry import ResourceEntry
from broker_core.resources.marks import DOWN, DRAINED

CONNECTING = "connecting"
"""State of a connection that was never there or lost since the site is known."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Why no jobs are sent to a site."""

    state: str
    """Of the connection, in one word, or `drained`."""
    reason: str

    @property
    def mark(self) -> str:
        """`drained`, or `down` for every state of the connection in which jobs cannot be sent."""
        return DRAINED if self.state == DRAINED else DOWN

    @property
    def told(self) -> str:
        """In a sentence that follows the name of the site."""
        return f"it is {self.state}: {self.reason}" if self.reason else f"it is {self.state}"


class Links:
    """The sites that are closed, and those that take a limited number of jobs, by name."""

    def __init__(self) -> None:
        self.slots_unheard: frozenset[str] = frozenset()
        """Sites whose virtual slots are not known yet."""
        self._closed: dict[str, Closed] = {}
        self._open: set[str] = set()
        self._most: dict[str, int] = {}
        self._jobs: Counter[str] = Counter()

    def told(self, site: str, state: str, reason: str, *, usable: bool) -> None:
        """Take over the state of a connection."""
        if usable:
            self._closed.pop(site, None)
            self._open.add(site)
        else:
            self._closed[site] = Closed(state, reason)
            self._open.discard(site)

    def limit(self, site: str, most: int) -> None:
        """Jobs that may be at a site at the same time; 0: as many as fit."""
        if most:
            self._most[site] = most
        else:
            self._most.pop(site, None)

    def count(self, ce: str, jobs: int) -> str:
        """Jobs came to a computing element, or left; the name of its site if that is full from now on, or is
        not any more."""
        site = computing_element(ce).site
        before = self._jobs[site]
        self._jobs[site] = after = before + jobs
        most = self._most.get(site, 0)
        return site if most and (before >= most) != (after >= most) else ""

    def full(self, ce: str) -> int:
        """The number of jobs that the site of a computing element may have, if it has them; else 0."""
        if not self._most:
            return 0
        site = _own_site(ce)
        most = self._most.get(site, 0)
        return most if self._jobs[site] >= most else 0

    def connecting(self) -> list[str]:
        """Sites to which the first connection is being made."""
        return [site for site, closed in self._closed.items() if closed.state == CONNECTING]

    def connected(self) -> set[str]:
        """Sites to which jobs can be sent."""
        return self._open

    def why(self, site: str) -> str:
        """Why nothing is known of a site, in a few words that follow its name."""
        closed = self._closed.get(site)
        if closed is None:
            return "nothing is known of it yet"
        if closed.state == CONNECTING:
            return "not connected yet"
        return closed.told

    def at(self, entry: ResourceEntry) -> Closed | None:
        """Why a computing element is closed; None: it is not."""
        if not self._closed:
            return None
        return self._closed.get(entry.site) or self._closed.get(_own_site(entry.ce))


def _own_site(ce: str) -> str:
    return computing_element(ce).site


def is_of(entry: ResourceEntry, site: str) -> bool:
    """True for a computing element of a site: by its own word, or by its id."""
    return entry.site == site or _own_site(entry.ce) == site
