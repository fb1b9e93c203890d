"""The two clocks of the broker, read in one place."""

from __future__ import annotations

import time

from broker_core.reactor.reactor import Now


def now() -> Now:
    """The wall clock for records, the monotonic clock for decisions (reliability case 7)."""
    return Now(time.time(), time.monotonic())
