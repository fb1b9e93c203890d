"""Sessions that were closed and take their leave: nobody waits for them but the end of the desktop."""

from __future__ import annotations

import threading
import time

threads: set[threading.Thread] = set()
"""Of all sessions that live."""


def wait_for_all(patience: float = 2.0) -> None:
    """Let all sessions end that were closed, for so many seconds at most in all."""
    end = time.monotonic() + patience
    for thread in list(threads):
        thread.join(max(0.0, end - time.monotonic()))
