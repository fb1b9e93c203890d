"""How long each step of an SSH connection may take, and when a lost one is tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class RetryPolicy:
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
    alive: float = 5.0
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
    hasty: float = 90.0
    """That a connection which stood may be away while it is tried again often: a network that was cut may be
    back at any moment."""
    often: float = 3.0
    """Between two tries at most, so long."""
    again: float = 5.0
    """As `connect`, so long: what was sent into a cut network is sent again by a new try sooner."""
    steady: float = 30.0
    """That a connection must have lasted for its loss to count as the first one."""
    give_up: int = 8
    """Tries in vain after which the site counts as down; it is tried on, rarely."""

    def hurried(self) -> RetryPolicy:
        """That of tries which follow each other often."""
        return replace(self, connect=min(self.connect, self.again))

    def pause(self, failures: int, away: float = 0.0, *, hasty: bool = False) -> float:
        """Seconds until the next try after so many failures (from 1): doubled each time, never in step.

        `away`: seconds since the first of them. `hasty`: it stood a moment ago.
        """
        most = min(self.early, self.longest) if away <= self.soon else self.longest
        most = min(most, self.often) if hasty else most
        longest = min(most, self.first * 2.0 ** min(failures - 1, 30))
        return max(self.first, random.uniform(0.5, 1.0) * longest)  # noqa: S311 - no secret
