"""Regular expressions whose cost is known before they run.

The library's matcher tries alternatives one after the other, so some patterns take exponential time. A
pattern is accepted only if no repeat stands around another one or around a choice, and if the number of ways
in which it could be laid over the text, from each place of it, is small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

PATTERN_MAX = 512
TEXT_MAX = 16_384
COST_MAX = 30_000_000
"""Steps of the worst case, fractions of a second."""
_OPTIONS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
_REFUSED = re.compile(r"\\[1-9kgG]|\(\?(?![:i])|\(\?i[^)]")
_WORDS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|[*+?]|\{[0-9]*,?[0-9]*\}|[()|]|.", re.DOTALL)
_COUNTS = re.compile(r"\{([0-9]*),([0-9]*)\}")
_EXACTLY = re.compile(r"\{([0-9]{1,9})\}")
_MANY = 100
"""Repeats from which any choice is too many."""


@lru_cache(maxsize=512)
def compiled(pattern: str, options: str) -> re.Pattern[str] | None:
    """The pattern; None if it is not valid."""
    flags = re.NOFLAG
    for option in options.lower():
        flags |= _OPTIONS.get(option, re.NOFLAG)
    try:
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        return None


def cost(pattern: str, text: str) -> int | None:
    """Steps that a search could take at worst; None if the pattern must not be run on the text."""
    if len(pattern) > PATTERN_MAX or len(text) > TEXT_MAX:
        return None
    found = _ways(pattern, len(text) + 1)
    if found is None or found * (len(text) + 1) > COST_MAX:
        return None
    return found * (len(text) + 1)


@dataclass(slots=True)
class _Group:
    """The ways through an open group."""

    others: int = 0
    """Through the branches that have ended."""
    branch: int = 1
    """Through the branch so far."""
    last: int = 1
    """Through the part that a repeat would stand behind."""
    repeated: bool = True
    """There is no such part, or it has its repeat already."""


@lru_cache(maxsize=512)
def _ways(pattern: str, length: int) -> int | None:
    """In how many ways the pattern fits at one place of a text; None if that may grow without bound."""
    if _REFUSED.search(pattern):
        return None
    groups = [_Group()]
    for word in _WORDS.findall(_trimmed(pattern)):
        group = groups[-1]
        if word == "(":
            groups.append(_Group())
        elif word == ")" and len(groups) > 1:
            ways = groups.pop()
            group = groups[-1]
            group.last, group.repeated = ways.others + ways.branch, False
            group.branch *= group.last
        elif word == "|":
            group.others, group.branch, group.repeated = group.others + group.branch, 1, True
        elif word[0] in "*+?" or _COUNTS.fullmatch(word) or _EXACTLY.fullmatch(word):
            if not group.repeated and not _repeat(group, word, length):
                return None
            group.repeated = True
        else:
            group.last, group.repeated = 1, False
        if groups[-1].branch > COST_MAX:
            return None
    return sum(group.others + group.branch for group in groups)


def _repeat(group: _Group, word: str, length: int) -> bool:
    """Count a repeat of the last part; False if there are several ways through that part itself."""
    if word == "?":
        group.branch = group.branch // group.last * (group.last + 1)
        return True
    exactly = _EXACTLY.fullmatch(word)
    if exactly is not None:
        group.branch = group.branch // group.last * group.last ** min(int(exactly[1]), _MANY)
        return True
    if group.last > 1:
        return False
    group.branch *= _choices(word, length)
    group.last = 2
    return True


def _choices(word: str, length: int) -> int:
    """How many numbers of times a repeat allows."""
    counts = _COUNTS.fullmatch(word)
    if counts is None:
        return length
    least, most = counts.groups()
    return min(length, int(most) - int(least or 0) + 1) if most and len(most) < 9 else length


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
