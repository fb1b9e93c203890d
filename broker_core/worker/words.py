"""Splitting Arguments into words as a POSIX shell does, with nothing expanded (CB-JS-03)."""

from __future__ import annotations

import re

_QUOTED = re.compile(r"""['"\\]""")
_BLANKS = re.compile(r"\s+", re.ASCII)
_PART = re.compile(
    r"""[^\s'"\\]+ | '(?P<single>[^']*)' | "(?P<double>(?:[^"\\]|\\.)*)"
    | \\(?P<one>.) | (?P<blank>\s) | (?P<bad>.)""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_IN_QUOTES = re.compile(r'\\([$`"\\\n])')


def split_words(text: str) -> list[str]:
    r"""Words of `text`: quotes and backslashes are taken away, `$`, `` ` ``, `*`, `;` and the like stay.

    Raises ValueError for a quote that is not closed or a backslash at the end.
    """
    if not _QUOTED.search(text):
        return [word for word in _BLANKS.split(text) if word]
    words: list[str] = []
    word: list[str] | None = None
    for part in _PART.finditer(text):
        if part["bad"] is not None:
            raise ValueError("A quote or backslash in Arguments is not closed.")
        if part["blank"] is not None:
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = [*(word or ()), *_plain(part)]
    return words if word is None else [*words, "".join(word)]


def _plain(part: re.Match[str]) -> list[str]:
    """What a quoted or unquoted part stands for; a backslash before a line break joins lines."""
    if part["single"] is not None:
        return [part["single"]]
    if part["double"] is not None:
        return [_IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], part["double"])]
    if part["one"] is not None:
        return [] if part["one"] == "\n" else [part["one"]]
    return [part.group()]
