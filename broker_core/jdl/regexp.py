"""Regular expressions whose cost is known before they run.

The library's matcher tries alternatives one after the other, so some patterns take exponential time. A
pattern is accepted only if no repeat stands inside another one, and its worst case (the length of the text
to the power of the number of repeats) is small.
"""

from __future__ import annotations

import re
from functools import lru_cache

PATTERN_MAX = 512
TEXT_MAX = 16_384
COST_MAX = 30_000_000
"""Steps of the worst case, fractions of a second."""
_OPTIONS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_REFUSED = re.compile(r"\\[1-9kgG]|\(\?(?![:i])|\(\?i[^)]")
_WORDS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|[*+?]|\{[0-9]*,?[0-9]*\}|[()|]", re.DOTALL)


@lru_cache(maxsize=512)
def compiled(pattern: str, options: str) -> tuple[re.Pattern[str], int] | None:
    """The pattern with the number of its repeats; None if it is not valid or could cost too much."""
    repeats = _repeats(pattern)
    if repeats is None or len(pattern) > PATTERN_MAX:
        return None
    flags = re.NOFLAG
    for option in options.lower():
        flags |= _OPTIONS.get(option, re.NOFLAG)
    try:
        return re.compile(pattern, flags), repeats
    except (re.error, OverflowError, RecursionError):
        return None


def usable(pattern: str, text: str, options: str) -> re.Pattern[str] | None:
    """The compiled pattern if it is valid and bounded for this text, else None."""
    if len(pattern) > PATTERN_MAX or len(text) > TEXT_MAX:
        return None
    found = compiled(pattern, options)
    if found is None or (len(text) + 1) ** (found[1] + 1) > COST_MAX:
        return None
    return found[0]


def _repeats(pattern: str) -> int | None:
    """How many repeats the pattern has; None if one holds another, or a choice, or looks around or back."""
    if _REFUSED.search(pattern):
        return None
    count = 0
    busy = [False]
    """For each open group: does it hold a repeat or a choice?"""
    closed = False
    for word in _WORDS.findall(_trimmed(pattern)):
        if word == "(":
            busy.append(False)
        elif word == ")" and len(busy) > 1:
            closed = busy.pop()
            busy[-1] = busy[-1] or closed
            continue
        elif word == "|":
            busy[-1] = True
        elif word[0] in "*+?{":
            if closed and word != "?":
                return None
            count += 1
            busy[-1] = True
        closed = False
    return count


def _trimmed(pattern: str) -> str:
    """Without a `.*` at its ends, which searching makes free."""
    if "|" in pattern:
        return pattern
    if pattern[:2] == ".*":
        pattern = pattern[2:]
    end = pattern.removesuffix("$")
    if end[-2:] == ".*" and end[-3:-2] != "\\":
        end = end[:-2]
    return end
