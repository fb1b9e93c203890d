"""How long a thread beside the window's may keep the interpreter while the window waits for its turn."""

from __future__ import annotations

import sys

_TURN_S = 0.0005
"""A tenth of the usual: painting a table calls back into Python hundreds of times, and may wait each time."""


def short_turns() -> None:
    """Let other threads give way soon, for the whole process; their work takes hardly longer."""
    sys.setswitchinterval(_TURN_S)
