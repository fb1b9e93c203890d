"""The decisions of the scheduler, newest first, as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt

from app import units
from app.units import clock
from app.widgets.cells import FONT, GLYPH, TONE
from app.widgets.csv_file import Written
from app.widgets.match_style import sentence
from app.widgets.state_style import StateShape
from app.widgets.table import NOWHERE, Index, TitledModel
from broker_core.jobs.placement import listed
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from broker_core.wire.queue import DecisionView

TIME, WHAT, JOB, WHY = range(4)
KEPT = 5000
"""Decisions that are kept in the window; older ones go."""
FACES: dict[str, tuple[StateShape, str]] = {
    "chosen": (StateShape.CHECK, "positive"),
    "matched": (StateShape.CHECK, "positive"),
    "postponed": (StateShape.HOLLOW, "state-Waiting"),
    "next-choice": (StateShape.HALF, "state-Ready"),
    "re-matched": (StateShape.HALF, "state-Ready"),
    "infeasible": (StateShape.QUESTION, "warning"),
    "aborted": (StateShape.CROSS, "negative"),
    "refused": (StateShape.CROSS, "negative"),
}
"""Kind of decision to its shape and colour token; others are a bar."""


class DecisionTable(TitledModel):
    """Newest first. What a filter hides is kept, and comes back when the filter goes."""

    TITLES = ("Time", "Decision", "Job", "Why")

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._all: list[DecisionView] = []
        self._shown: list[DecisionView] = []
        self._wanted = ""

    @property
    def last(self) -> int:
        """Number of the newest decision that is here; 0 for none."""
        return self._all[0].number if self._all else 0

    @property
    def known(self) -> int:
        """Decisions that are here, shown or not."""
        return len(self._all)

    def add(self, decisions: list[DecisionView]) -> None:
        """Add decisions; those that are here already are left aside."""
        fresh = sorted((one for one in decisions if one.number > self.last), key=lambda one: -one.number)
        if not fresh:
            return
        self._all[:0] = fresh
        shown = [one for one in fresh if self._passes(one)]
        if shown:
            self.beginInsertRows(NOWHERE, 0, len(shown) - 1)
            self._shown[:0] = shown
            self.endInsertRows()
        if len(self._all) > KEPT:
            del self._all[KEPT:]
            self.filter(self._wanted)

    def clear(self) -> None:
        """Forget all, for another broker counts anew."""
        self.beginResetModel()
        self._all, self._shown = [], []
        self.endResetModel()

    def filter(self, wanted: str) -> None:
        """Show only decisions whose job, kind or reason contains this."""
        self._wanted = wanted.strip().lower()
        self.beginResetModel()
        self._shown = [one for one in self._all if self._passes(one)]
        self.endResetModel()

    def _passes(self, one: DecisionView) -> bool:
        return not self._wanted or self._wanted in f"{one.job} {one.name} {one.what} {one.reason}".lower()

    def at(self, row: int) -> DecisionView | None:
        """Return the decision of a row."""
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def csv(self) -> Written:
        """Return the decisions that are shown, with exact values."""
        header = ("number", "time", "job", "name", "what", "resources", "reason", "considered", "matching")
        rows = [
            [one.number, units.exact(one.time), *(getattr(one, name) for name in header[2:])]
            for one in self._shown
        ]
        return Written(header, rows)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Decisions that pass the filter."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints."""
        one, column = self._shown[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return (clock(one.time), one.what.replace("-", " ").capitalize(), one.name or one.job, why(one))[
                column
            ]
        if role == GLYPH:
            return FACES.get(one.what, (StateShape.BAR, "muted")) if column == WHAT else None
        if role == TONE:
            return "muted" if column == TIME else None
        if role == FONT:
            return "strong" if column == JOB else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{units.exact(one.time)}\n{one.job}\n{why(one)}"
        return None


def why(one: DecisionView) -> str:
    """Say where to and why, and how many resources were looked at."""
    sites = listed(site_name(ce) for ce in one.resources[:3])
    if not sites:
        said = sentence(one.reason)
    elif one.reason and not one.reason.startswith("Chosen: "):
        said = f"{sites}: {one.reason}."
    else:
        said = f"{sites}."
    if one.considered:
        said += f" {one.matching:,} of {units.count(one.considered, 'resource')} matched."
    return said.strip()
