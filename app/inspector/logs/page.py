"""What of a log is on screen: rows folded into screen lines, and where a point falls in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.inspector.logs.ansi import StyledRun, runs_of

if TYPE_CHECKING:
    from app.inspector.logs.spool import LogRow, LogSpool


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """One line on screen: a row, or a part of one where long rows wrap."""

    row: int
    number: int
    """Of the log's line, from 1; 0 where the line goes on and needs no number."""
    start: int
    """Characters of the row that come before."""
    runs: tuple[StyledRun, ...]

    @property
    def text(self) -> str:
        """The line without styles."""
        return "".join(run.text for run in self.runs)


def screen_lines(spool: LogSpool, first: int, lines: int, columns: int) -> list[ScreenLine]:
    """Return the screen lines from row `first` on, at least `lines` if there are; `columns` 0: no wrap."""
    found: list[ScreenLine] = []
    for place, row in enumerate(spool.read_rows(first, lines)):
        found.extend(fold(first + place, row, columns))
        if len(found) >= lines:
            break
    return found


def fold(place: int, row: LogRow, columns: int) -> list[ScreenLine]:
    """Cut a row into screen lines of `columns` characters; 0 leaves it whole."""
    number = row.number if row.first else 0
    runs = runs_of(row.raw)
    if not columns or sum(len(run.text) for run in runs) <= columns:
        return [ScreenLine(place, number, 0, tuple(runs))]
    lines: list[ScreenLine] = []
    now: list[StyledRun] = []
    used, start = 0, 0
    for run in runs:
        text = run.text
        while text:
            take = text[: columns - used]
            now.append(StyledRun(take, run.token, run.bold))
            used, text = used + len(take), text[len(take) :]
            if used == columns:
                lines.append(ScreenLine(place, number if not lines else 0, start, tuple(now)))
                start, used, now = start + columns, 0, []
    if now:
        lines.append(ScreenLine(place, 0, start, tuple(now)))
    return lines


def last_top(spool: LogSpool, lines: int, columns: int) -> int:
    """Return the row to stand at the top so that the end of the log is at the bottom."""
    room, top = lines, spool.rows
    rows = spool.read_rows(max(0, spool.rows - lines), lines)
    for row in reversed(rows):
        room -= len(fold(0, row, columns)) if columns else 1
        if room < 0:
            break
        top -= 1
    return min(top, max(0, spool.rows - 1))
