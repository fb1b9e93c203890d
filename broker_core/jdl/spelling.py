"""Which known word a misspelt one was meant to be."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache


@lru_cache(maxsize=4096)
def closest(word: str, known: tuple[str, ...]) -> str | None:
    """The known word most like `word`, both in lower case; None if none is near enough.

    Words of up to four letters, and very long ones, are left alone: nearly everything is near them, or
    the comparison would cost too much.
    """
    if not 4 < len(word) <= 60:
        return None
    near = get_close_matches(word, known, n=1, cutoff=0.85)
    return near[0] if near else None
