"""The history of changes of parameters: as a table, and as marks on the axis of curves. No widgets."""

from __future__ import annotations

import time
from dataclasses import dataclass

from broker_core.client.printable import printable
from broker_core.jobs.published.parameters import ParameterHistory, text_of
from broker_core.jobs.published.recording import Recording
from broker_core.jobs.published.records import TableRecord

HISTORY = "Changes of parameters"
"""Name of the table."""
_COLUMNS = ("time", "by", "parameter", "from", "to", "refused")


@dataclass(frozen=True, slots=True)
class Marker:
    """A change at the x of the latest point before it."""

    x: float
    words: str


def markers_of(history: ParameterHistory) -> list[Marker]:
    """The changes that the program took over, where curves have a place for them."""
    return [
        Marker(one.x, printable(f"{one.name} {text_of(one.before)} → {text_of(one.after)}"))
        for one in history.changes
        if one.x is not None and not one.refused
    ]


class HistoryTable:
    """Makes a table of the changes, anew only when there are others."""

    def __init__(self) -> None:
        self._made = TableRecord(HISTORY, _COLUMNS, ())
        self._last: object = None

    def tables(self, recording: Recording) -> dict[str, TableRecord]:
        """All tables of a recording, and that of the changes if there are any."""
        changes = recording.steering.changes
        if not changes:
            return recording.tables
        if changes[-1] is not self._last:
            self._last = changes[-1]
            rows = tuple(
                (
                    time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.time)),
                    one.by,
                    one.name,
                    text_of(one.before),
                    text_of(one.after),
                    one.refused,
                )
                for one in changes
            )
            self._made = TableRecord(HISTORY, _COLUMNS, rows)
        return {**recording.tables, HISTORY: self._made}
