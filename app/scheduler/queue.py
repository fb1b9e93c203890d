"""The queue as a table: order, why each job waits, and what holds it back (CB-UI-11)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt

from app import units
from app.widgets.cells import FONT, GLYPH, TONE
from app.widgets.csv_file import Written
from app.widgets.match_style import sentence
from app.widgets.state_style import StateShape
from app.widgets.table import NOWHERE, Index, TitledModel

if TYPE_CHECKING:
    from broker_core.wire.queue import QueueView

PLACE, JOB, STATE, CPUS, SINCE, REASON = range(6)
STATES: dict[str, tuple[StateShape, str, str]] = {
    "queued": (StateShape.HOLLOW, "state-Waiting", "Queued"),
    "limited": (StateShape.HOLLOW, "state-Waiting", "Its turn comes"),
    "parked": (StateShape.QUESTION, "warning", "Nowhere to run"),
    "held": (StateShape.PAUSE, "state-Waiting", "On hold"),
    "sent": (StateShape.HALF, "state-Ready", "Being sent"),
}
"""State in the queue to its shape, colour token and word."""


class QueueTable(TitledModel):
    """One row for each waiting job, in the order in which they would start."""

    TITLES = ("Place", "Job", "State", "CPUs", "Waiting", "Why it waits")
    NUMBERS = frozenset({PLACE, CPUS, SINCE})

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._columns: dict[str, list[Any]] = {"id": []}

    def show_queue(self, view: QueueView) -> None:
        """Show the queue; where the jobs are the same, only what is said of them changes."""
        same = view.columns.get("id", []) == self._columns["id"]
        if not same:
            self.beginResetModel()
        self._columns = {"id": [], **view.columns}
        if not same:
            self.endResetModel()
        elif self._columns["id"]:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, REASON))

    def job_at(self, row: int) -> str:
        """Return the id of a row's job; empty beyond the end."""
        return str(self._columns["id"][row]) if 0 <= row < self.rowCount() else ""

    def row_of(self, job: str) -> int:
        """Return the row of a job, -1 if it is not in the queue."""
        return self._columns["id"].index(job) if job in self._columns["id"] else -1

    def blocking(self, row: int) -> str:
        """Return the id of the job that holds this one back; empty for none."""
        found = self._columns["blocking"][row]
        return str(found[0] if isinstance(found, list) and found else found or "")

    def csv(self) -> Written:
        """Return the queue with exact values."""
        held = self._columns
        names = [name for name in held if len(held[name]) == len(held["id"])]
        rows = zip(*(list(held[name]) for name in names), strict=True)
        return Written(names, rows)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Waiting jobs."""
        return 0 if parent.isValid() else len(self._columns["id"])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints."""
        row, column = index.row(), index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == GLYPH:
            return self._state(row)[:2] if column == STATE else None
        if role == TONE:
            return self._state(row)[1] if column == STATE else "text" if column in (JOB, REASON) else "muted"
        if role == FONT:
            return "strong" if column == JOB else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return sentence(self._columns["reason"][row] or "") if column == REASON else self.job_at(row)
        return None

    def _state(self, row: int) -> tuple[StateShape, str, str]:
        said = str(self._columns["state"][row])
        return STATES.get(said, (StateShape.HOLLOW, "state-Waiting", said.capitalize()))

    def _text(self, row: int, column: int) -> str:
        held = self._columns
        if column == PLACE:
            return f"{held['place'][row]:,}" if held["place"][row] else ""
        if column == JOB:
            return str(held["name"][row] or held["id"][row])
        if column == STATE:
            return self._state(row)[2]
        if column == CPUS:
            return f"{held['cpus'][row]:,}"
        if column == SINCE:
            return units.duration(max(0.0, time.time() - held["since"][row])) if held["since"][row] else ""
        return sentence(held["reason"][row] or "")
