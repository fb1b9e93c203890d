"""How soon a remote site is looked at again; durations in seconds."""

from __future__ import annotations

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
