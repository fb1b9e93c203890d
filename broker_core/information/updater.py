"""What feeds the Resource Cache: the contract of updaters, built in or installed as plug-ins (CB-UPD-01)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from broker_core.errors import CrossDeskError
from broker_core.resources.facts import Facts

INTERVAL = 120.0
"""Seconds between two questions to a source, unless set otherwise (CB-CACHE-03)."""
DEADLINE = 60.0
"""Seconds after which an answer is given up, unless set otherwise."""


class SourceFailed(CrossDeskError):
    """A source of information did not answer, or its answer is of no use."""

    code = "source_failed"
    status = 502


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One `[[sources]]` table of the settings."""

    name: str
    kind: str
    address: str = ""
    """URL, or path of a file; what it means depends on the kind."""
    interval: float = INTERVAL
    deadline: float = DEADLINE
    enabled: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the kind wants to know besides."""


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What a source said when it was asked once."""

    facts: tuple[Facts, ...]
    complete: bool = True
    """It names everything that the source knows, `silent` parts excepted."""
    silent: tuple[str, ...] = ()
    """Sites that did not answer (CB-UPD-02)."""
    remarks: tuple[str, ...] = ()
    """What of the answer was refused, in words; the first ones."""
    refused: int = 0
    """Values and entries that were refused in all."""
    checked: bool = False
    """Every value has a type and size that the cache takes; else the runner looks."""
    account: bool = False
    """The source is the site itself, used through an account of the user."""
    storage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Storage element to its attributes by GLUE name, for `other.storage` in expressions."""


Answer = SourceAnswer
"""Name of version 0.1.0, for plug-ins that were written for it; goes with the next release."""


class Updater(Protocol):
    """One source of information. A plug-in gives such an object for its `SourceSettings`.

    `fetch` runs in the broker's event loop: what blocks or computes for long belongs elsewhere. It may be
    cancelled at the deadline, and raises SourceFailed, or anything else, when there is no answer.
    """

    name: str
    kind: str
    interval: float
    """Seconds between two questions."""
    address: str

    async def fetch(self) -> SourceAnswer:
        """Ask the source once."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """An updater that remembers a part of its answers, since asking for it is costly."""

    def renew(self) -> None:
        """Somebody wants to know: ask for all of it the next time."""
        ...


@runtime_checkable
class Watching(Protocol):
    """An updater that notices by itself when there is news."""

    async def changed(self) -> None:
        """Return as soon as the source should be asked before its time."""
        ...
