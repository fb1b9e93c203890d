"""The garbage collector: it must hold up neither decisions of the broker nor the start of a program."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG, _MIDDLE, _OLD = 2_500, 8, 2_000
HARDLY_EVER = 1_000_000
"""New objects between two collections of a process that only computes."""


@contextmanager
def loading() -> Iterator[None]:
    """What is loaded within stays as long as the process: nothing looks for garbage in it, then or later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_rarely(young: int = _YOUNG) -> None:
    """Let a full collection come about once in forty million new objects.

    Nothing in the broker needs it for the memory of jobs, rows and events: these hold no cycles and go with
    the last reference to them. But it walks over all of them, and with ten thousand live jobs stops the
    event loop for 30 ms each time, which by default is every few thousand jobs. What was loaded at the
    start stays out of it altogether. `young`: new objects between two of the small collections; ten thousand
    new tuples of what a source said take 10 ms to walk over, so the broker waits for fewer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(young, _MIDDLE, _OLD)
