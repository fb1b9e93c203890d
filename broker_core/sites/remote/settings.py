"""How remote sites are watched; durations in seconds, sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

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
