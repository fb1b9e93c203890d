"""How remote sites are watched; durations in seconds, sizes in bytes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

LIST_SOON = 3.0
"""Seconds between two questions to a batch system after its jobs while somebody waits for the answer."""
BURST = 0.5
"""Between two looks while much is done there."""
_SOON, _SLOWING = 0.25, 0.5
"""Pause after something was done there: parts of the usual one, and of the time since."""
_SHARE = 0.02
"""Of the time since the last change: the delay stays a small part of how long a job was there."""


def pause(usual: float, since_act: float, since_change: float, slowest: float, lease: float) -> float:
    """Until the next look.

    What was just begun may be over soon; what has not changed for long is looked at rarely. `usual`: as the
    site's owner wishes. `lease`: 0 for none; it is renewed in time in any case.
    """
    soon = max(BURST, usual * _SOON, since_act * _SLOWING)
    wanted = max(min(soon, usual), since_change * _SHARE)
    most = max(slowest, usual)
    return min(wanted, most, lease / 4 or most)


class ListPace:
    """When a site's batch system is asked for its list of jobs. Centers count such commands, so that it is
    asked rarely; starts and ends are told by the starters' markers, which cost it nothing."""

    def __init__(self, usual: float) -> None:
        """`usual`: seconds between two questions while nobody waits for the answer."""
        self.soon = min(LIST_SOON, usual)
        """Seconds between two questions while somebody does."""
        self.asked = -math.inf
        """When the last question began that was answered, by the monotonic clock."""
        self._usual = usual
        self._wanted = -math.inf
        """When somebody last wanted a list, likewise."""
        self._watched: dict[str, float] = {}

    def want(self, now: float) -> None:
        """Ask with the next look; a list that was asked for before `now` does not serve."""
        self._wanted = now

    def was_asked(self, began: float) -> None:
        """The list that was asked for at `began` is here."""
        self.asked = began

    def watch(self, tags: Iterable[str], until: float) -> None:
        """Somebody looks at these attempts, until then by the monotonic clock if it is not said again."""
        self._watched |= dict.fromkeys(tags, until)

    def watched(self, now: float) -> Collection[str]:
        """Tags of the attempts that somebody looks at."""
        self._watched = {tag: until for tag, until in self._watched.items() if until > now}
        return self._watched

    def due(self, now: float, *, pressing: bool) -> bool:
        """True if the next look is to ask; `pressing`: somebody waits for the answer."""
        return self._wanted >= self.asked or now - self.asked >= (self.soon if pressing else self._usual)


@dataclass(slots=True)
class ResultLimits:
    """What of that which jobs make comes home unasked, and what is kept at sites of the rest and of inputs.

    All sites of a broker share one; what is changed in it holds from the next job that is sent, or that ends.
    """

    results_max: int = 100_000_000
    """Of a job that names no outputs, what comes home in one file and in all; 0: no limit."""
    left_age: float = 30 * 86_400.0
    """How long what did not come home stays at the site; 0: until the job is removed."""
    left_max: int = 10_000_000_000
    """Of what all jobs left there; beyond it the oldest goes sooner, not within a day. 0: no limit."""
    inputs_age: float = 7 * 86_400.0
    """How long input files stay at the site after the last job that needed them; 0: for ever."""
    inputs_max: int = 20_000_000_000
    """Of all input files kept there; beyond it those go sooner that no job needs. 0: no limit."""


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Defaults suit real sites; tests make them shorter."""

    linger: float = 0.005
    """How long a submission waits for others to share its exchange."""
    most_together: int = 200
    """Submissions in one exchange."""
    slowest: float = 30.0
    """Longest pause between two looks while nothing changes."""
    patience: float = 90.0
    """How long an attempt that is not in the batch system's list any more may stay without a sign of life
    before it is called lost; network file systems show things late."""
    short_patience: float = 15.0
    """The same for one that was held there and not released, and so cannot have begun."""
    cancel_again: float = 10.0
    """After which a cancel or release that did not help is sent once more."""
    record_pauses: tuple[float, ...] = (0.0, 3.0, 12.0)
    """Before each question to the batch system's records after an end that the starter could not tell; they
    may show it late. Then it is told without."""
    beat: int = 30
    """Between two signs of life of a running Job Starter."""
    grace: float = 30.0
    """Beyond the lease, before an attempt counts as ended for want of contact."""
    stagings: int = 4
    """Tries to bring output whose hash does not fit."""
    most_live: int = 64 << 20
    """Of a file that still grows more than this is not brought, but its end."""
    results: ResultLimits = field(default_factory=ResultLimits)
    longest_left: float = 0.0
    """How long the site itself keeps what jobs left; 0: as long as it is wanted."""
    untouched: float = 600.0
    """For so long nothing may have changed in what lies at a site and is to be removed as a leftover: several
    times as long as anything that is on its way there takes effect."""

    @property
    def left_age(self) -> float:
        """How long what did not come home of a job that ends now stays there; 0: until the job is removed."""
        wanted, most = self.results.left_age, self.longest_left
        return min(wanted or most, most or wanted)
