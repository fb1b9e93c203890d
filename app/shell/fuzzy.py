"""Fuzzy matching for the command field: letters in order, word beginnings and runs count most. Pure."""

from __future__ import annotations


def score(wanted: str, text: str) -> int | None:
    """Return how well `text` fits the letters `wanted` (greater is better), or None if it does not."""
    wanted, low = wanted.lower().replace(" ", ""), text.lower()
    if not wanted:
        return 0
    total, place, run = 0, -1, 0
    for letter in wanted:
        found = _next(low, letter, place + 1)
        if found < 0:
            return None
        run = run + 1 if found == place + 1 else 0
        total += 1 + 3 * run + (8 if _begins_word(text, found) else 0) - min(found - place - 1, 6)
        place = found
    whole = low.find(wanted)
    return total + (20 if whole == 0 else 10 if whole > 0 else 0) - len(text) // 12


def _next(low: str, letter: str, start: int) -> int:
    """The next place of a letter; the beginning of a word is taken first if one has it."""
    first = low.find(letter, start)
    place = first
    while place >= 0:
        if _begins_word(low, place):
            return place if place - first < 12 else first
        place = low.find(letter, place + 1)
    return first


def _begins_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()
