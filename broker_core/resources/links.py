"""Sites that cannot be used now, by the state of the connection to them or because they are drained."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.resources.entry import Entry
from broker_core.resources.marks import DOWN, DRAINED


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
    """The sites that are closed, by name."""

    def __init__(self) -> None:
        self._closed: dict[str, Closed] = {}

    def told(self, site: str, state: str, reason: str, *, usable: bool) -> None:
        """Take over the state of a connection."""
        if usable:
            self._closed.pop(site, None)
        else:
            self._closed[site] = Closed(state, reason)

    def at(self, entry: Entry) -> Closed | None:
        """Why a computing element is closed; None: it is not."""
        if not self._closed:
            return None
        return self._closed.get(entry.site) or self._closed.get(entry.ce.partition(":")[0])


def is_of(entry: Entry, site: str) -> bool:
    """True for a computing element of a site: by its own word, or by its id."""
    return entry.site == site or entry.ce.partition(":")[0] == site
