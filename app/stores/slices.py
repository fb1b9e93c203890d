"""Long computations in slices, so that the window never waits for them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
SLICE = 1500
"""Rows in one slice: a few milliseconds."""


def parts(rows: Sequence[T], size: int = SLICE) -> Iterator[Sequence[T]]:
    """Cut a sequence into slices."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


async def breathe() -> None:
    """Let the window handle what has come in."""
    await asyncio.sleep(0)


def set_aside() -> None:
    """Have what stands now left out of collections of garbage, such as columns that are about to be filled.

    To go through 100,000 rows stops the window; see `app.shell.garbage` for when it is done all the same.
    """
    gc.freeze()


async def in_order(rows: Sequence[int], key: Callable[[int], Any], reverse: bool) -> list[int]:
    """Sort rows by slices and merge them in pairs; stable, and no step takes long.

    Two sorted halves in a row are the best case of Python's sort, which makes it a merge.
    """
    runs = []
    for part in parts(rows):
        runs.append(sorted(part, key=key, reverse=reverse))
        await breathe()
    while len(runs) > 1:
        merged = []
        for place in range(0, len(runs) - 1, 2):
            merged.append(sorted(runs[place] + runs[place + 1], key=key, reverse=reverse))
            await breathe()
        runs = merged + ([runs[-1]] if len(runs) % 2 else [])
    return runs[0] if runs else []
