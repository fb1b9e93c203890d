"""What a measure is: a name, a limit, and the offenders that it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.architecture.modules import Module


@dataclass(frozen=True)
class Measure:
    """One figure of the sources.

    Attributes:
        name: its key in the ratchet and on the command line.
        counts: what is counted, for the printed line.
        limit: the figure that is aimed at; larger ones are work left to do.
        offenders: what is counted, one line of text each.
        figure: the figure, if it is not the number of offenders.
    """

    name: str
    counts: str
    limit: int
    offenders: Callable[[Sequence[Module]], list[str]]
    figure: Callable[[Sequence[Module]], int] | None = None

    def take(self, modules: Sequence[Module]) -> int:
        """The figure of these modules."""
        return self.figure(modules) if self.figure else len(self.offenders(modules))
