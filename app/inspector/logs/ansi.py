"""One row of output as people read it: text without control sequences, and the colours they asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?")
_CONTROL = dict.fromkeys((*range(9), *range(11, 32), 127), "·")
_BASE = ("text", "negative", "positive", "warning", "accent", "code-function", "code-reference", "muted")
"""Theme tokens for the eight basic colours, black (as text) to white (as muted text)."""
TAB = 8


@dataclass(frozen=True, slots=True)
class StyledRun:
    """A stretch of text in one style."""

    text: str
    token: str = "text"
    """Theme token of its colour."""
    bold: bool = False


def runs_of(raw: bytes) -> list[StyledRun]:
    """Turn a row's bytes into runs. A carriage return starts the row anew, as on a terminal."""
    text = raw.decode("utf-8", "replace").rstrip("\r")
    text = text.rpartition("\r")[2].expandtabs(TAB)
    if "\x1b" not in text:
        return [StyledRun(text.translate(_CONTROL))]
    runs: list[StyledRun] = []
    token, bold, place = "text", False, 0
    for found in _SEQUENCE.finditer(text):
        if found.start() > place:
            runs.append(StyledRun(text[place : found.start()].translate(_CONTROL), token, bold))
        if found.group(2) == "m":
            token, bold = _restyle(found.group(1), token, bold)
        place = found.end()
    runs.append(StyledRun(text[place:].translate(_CONTROL), token, bold))
    return [run for run in runs if run.text] or [StyledRun("")]


def plain(raw: bytes) -> str:
    """Return a row's text without styles."""
    return "".join(run.text for run in runs_of(raw))


def _restyle(codes: str, token: str, bold: bool) -> tuple[str, bool]:
    numbers = [int(code) for code in re.split("[;:]", codes) if code] or [0]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            token, bold = "text", False
        elif code in (1, 22):
            bold = code == 1
        elif 30 <= code <= 37 or 90 <= code <= 97:
            token = _BASE[code % 10]
        elif code == 39:
            token = "text"
        elif code in (38, 48) and numbers:
            told = numbers.pop(0)
            rest, numbers = numbers, numbers[1 if told == 5 else 3 :]
            if code == 38 and told == 5 and rest and rest[0] < 16:
                token = _BASE[rest[0] % 8]
    return token, bold
