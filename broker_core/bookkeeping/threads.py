"""Threads that are there from the start: a full process table later on stops none of them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor


def ready_threads(number: int, name: str) -> ThreadPoolExecutor:
    """A pool whose threads all run already (reliability case 25).

    Python's own pool starts a thread when work comes in; with no room for it the work fails. Raises
    RuntimeError if there is no room now.
    """
    pool = ThreadPoolExecutor(number, thread_name_prefix=name)
    all_there = threading.Barrier(number + 1)
    try:
        for _ in range(number):
            pool.submit(all_there.wait)
    except RuntimeError:
        all_there.abort()
        pool.shutdown()
        raise
    all_there.wait()
    return pool
