"""Finding in a log: words, regular expressions, and the first error."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression

if TYPE_CHECKING:
    from app.inspector.logs.spool import LogSpool

_PIECE = 1 << 18
MOST = 100_000
"""Hits remembered; beyond this the search stops and says so."""
_SLOWEST = 0.25
"""Seconds that one row may take; a regular expression that needs longer would freeze the window."""

FIRST_ERROR = re.compile(
    rb"^Traceback \(most recent call last\)|\b(?:error|fatal|panic|failed|failure)\b\s*[:!\]]|\bFAILED\b"
    rb"|segmentation fault|core dumped|out of memory|\b\w*(?:exception|error): |command not found"
    rb"|permission denied|no such file or directory|\bkilled\b",
    re.IGNORECASE | re.MULTILINE,
)
"""What the first error of a log looks like, in the programs that scientists run."""


@dataclass(slots=True)
class LogQuery:
    """What is looked for."""

    text: str
    regex: bool = False

    def expression(self) -> QRegularExpression:
        """Return the expression that marks the hits within a row's text; case does not matter."""
        pattern = self.text if self.regex else QRegularExpression.escape(self.text)
        return QRegularExpression(pattern, QRegularExpression.PatternOption.CaseInsensitiveOption)


@dataclass(slots=True)
class Hits:
    """What was found."""

    offsets: list[int] = field(default_factory=list)
    """Offsets in the file, in order."""
    searched: int = 0
    """Bytes looked at so far."""
    problem: str = ""
    """Why the search could not be done or was given up; empty if it could."""

    @property
    def full(self) -> bool:
        """True if there may be more than are remembered."""
        return len(self.offsets) >= MOST


def search(spool: LogSpool, query: LogQuery, hits: Hits, wanted: Callable[[], bool]) -> Hits:
    """Go on with `hits` up to the present end of the spool, while `wanted`; for a thread of its own."""
    expression = query.expression()
    if not expression.isValid():
        hits.problem = f"Not a regular expression: {expression.errorString()}"
        return hits
    for start, content in whole_lines(spool, hits.searched):
        if not wanted() or hits.full or hits.problem:
            break
        found = _by_expression(content, expression, hits) if query.regex else _by_word(content, query.text)
        hits.offsets.extend(start + place for place in found)
        hits.searched = start + len(content)
    del hits.offsets[MOST:]
    return hits


def first_error(spool: LogSpool, start: int = 0) -> int | None:
    """Return the offset of the first error at or after `start`, or None."""
    for begin, content in whole_lines(spool, start):
        if found := FIRST_ERROR.search(content):
            return begin + found.start()
    return None


def whole_lines(spool: LogSpool, start: int) -> Iterator[tuple[int, bytes]]:
    """Give the content from `start` on in pieces that end with a line where lines are not enormous."""
    while start < spool.size:
        content = spool.read(start, _PIECE)
        cut = content.rfind(b"\n") + 1
        if cut and start + len(content) < spool.size:
            content = content[:cut]
        yield start, content
        start += len(content)


def _by_word(content: bytes, text: str) -> Iterator[int]:
    needle, hay = text.encode().lower(), content.lower()
    place = hay.find(needle)
    while place >= 0:
        yield place
        place = hay.find(needle, place + len(needle))


def _by_expression(content: bytes, expression: QRegularExpression, hits: Hits) -> Iterator[int]:
    start = 0
    for line in content.split(b"\n"):
        began = time.monotonic()
        text = line.decode("utf-8", "replace")
        matches = expression.globalMatch(text)
        while matches.hasNext():
            place = matches.next().capturedStart()
            yield start + len(text[:place].encode())
        if time.monotonic() - began > _SLOWEST:
            hits.problem = "This expression takes too long here; make it simpler"
            return
        start += len(line) + 1
