"""The counters of CB-LIFE-06 as in table 5.3: stages down, kinds across, share of the submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

if TYPE_CHECKING:
    from broker_core.wire.views import Statistics

STAGES = ("submitted", "accepted", "matched", "run", "completed", "cleared")


class StageTable(QTableWidget):
    """Rows are stages; for all jobs and for each kind a count and its share in percent."""

    def __init__(self) -> None:
        super().__init__(len(STAGES), 2)
        self.setAccessibleName("Jobs by stage")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setShowGrid(False)
        self.setVerticalLabels()
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumWidth(112)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight)
        self.horizontalHeader().setSectionsClickable(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def setVerticalLabels(self) -> None:
        """Name the stages."""
        self.setVerticalHeaderLabels([stage.capitalize() for stage in STAGES])

    def show_statistics(self, numbers: Statistics) -> None:
        """Fill in counts and shares."""
        totals = {stage: sum(getattr(kind, stage) for kind in numbers.kinds.values()) for stage in STAGES}
        columns = [("All jobs", totals)]
        columns += [
            (name, {stage: getattr(kind, stage) for stage in STAGES}) for name, kind in numbers.kinds.items()
        ]
        self.setColumnCount(2 * len(columns))
        titles = [title for name, _ in columns for title in (name, "%")]
        self.setHorizontalHeaderLabels(titles)
        for place, (_, counts) in enumerate(columns):
            for row, stage in enumerate(STAGES):
                self._put(row, 2 * place, f"{counts[stage]:,}")
                self._put(row, 2 * place + 1, _share(counts[stage], counts["submitted"]))
            self.setColumnWidth(2 * place, 128)
            self.setColumnWidth(2 * place + 1, 64)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + 28 * len(STAGES) + 14)

    def _put(self, row: int, column: int, text: str) -> None:
        item = QTableWidgetItem(text)
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setItem(row, column, item)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""
