"""How long each step of an SSH connection may take, and when a lost one is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds, but for the counts."""

    connect: float = 15.0
    """Until the network connection stands."""
    exchange: float = 20.0
    """From there until the server has named itself and proved its key."""
    login: float = 60.0
    """From there until the login is done; begins anew when a question was answered."""
    channel: float = 20.0
    """Until the server takes a command."""
    probe: float = 20.0
    """Until a command of no work has ended."""
    question: float = 600.0
    """Until an answer that the server waits for is there."""
    alive: float = 10.0
    """Of silence after which the server is asked for a sign of life."""
    silent: int = 3
    """Signs of life that may stay out."""
    first: float = 1.0
    """Until the second try."""
    longest: float = 300.0
    """Between two tries at most."""
    early: float = 60.0
    """The same while the site has been away for no longer than `soon`."""
    soon: float = 600.0
    steady: float = 30.0
    """That a connection must have lasted for its loss to count as the first one."""
    give_up: int = 8
    """Tries in vain after which the site counts as down; it is tried on, rarely."""

    def pause(self, failures: int, away: float = 0.0) -> float:
        """Seconds until the next try after so many failures (from 1): doubled each time, never in step.

        `away`: seconds since the first of them.
        """
        most = min(self.early, self.longest) if away <= self.soon else self.longest
        longest = min(most, self.first * 2.0 ** min(failures - 1, 30))
        return max(self.first, random.uniform(0.5, 1.0) * longest)  # noqa: S311 - no secret
