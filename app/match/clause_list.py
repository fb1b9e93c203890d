"""The clauses of a description with the number of resources at which each holds; one can be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from app import units
from app.widgets.cells import FONT, GLYPH, SHARE, TONE
from app.widgets.match_style import origin_words
from app.widgets.state_style import StateShape
from app.widgets.table import NOWHERE, Index, RowTable, TitledModel

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.matches import ClauseCountView, MatchReport

CLAUSE, HOLDS, WITHOUT = range(3)
_MOST_LINES = 6
_NARROW = 520
"""Pixels below which the last column gives its room to the clause."""


class ClauseTable(TitledModel):
    """One row for each clause."""

    TITLES = ("Clause", "True at", "Without it")
    NUMBERS = frozenset({HOLDS, WITHOUT})

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.clauses: list[ClauseCountView] = []
        self._known = 0

    def show_report(self, report: MatchReport) -> None:
        """Show the counts of a report; where the clauses are the same, only the numbers change."""
        shown = [one for one in report.clauses if worth_a_line(one, report.known)]
        same = [one.text for one in shown] == [one.text for one in self.clauses]
        self._known = report.known
        if same:
            self.clauses = shown
            if self.clauses:
                self.dataChanged.emit(self.index(0, 0), self.index(len(self.clauses) - 1, WITHOUT))
            return
        self.beginResetModel()
        self.clauses = shown
        self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """One for each clause."""
        return 0 if parent.isValid() else len(self.clauses)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The clause, its number in words and as a bar, and what dropping it would give."""
        one, column = self.clauses[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return (self._name(one), f"{one.satisfied:,} of {self._known:,}", self._without(one))[column]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == GLYPH:
            return self._face(one) if column == CLAUSE else None
        if role == SHARE and column == HOLDS and self._known:
            return one.satisfied / self._known, self._face(one)[1]
        if role == FONT:
            return "mono" if column == CLAUSE and one.origin == "requirements" else None
        if role == TONE:
            return "muted" if column else None
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._tip(one)
        return None

    def _name(self, one: ClauseCountView) -> str:
        return " ".join(one.text.split()) or origin_words(one.origin)

    def _face(self, one: ClauseCountView) -> tuple[StateShape, str]:
        if not one.satisfied:
            return StateShape.CROSS, "negative"
        return (
            (StateShape.CHECK, "positive") if one.satisfied == self._known else (StateShape.HALF, "warning")
        )

    def _without(self, one: ClauseCountView) -> str:
        return f"+{one.alone:,}" if one.alone else ""

    def _tip(self, one: ClauseCountView) -> str:
        said = f"{self._name(one)}\n{origin_words(one.origin)}. "
        said += f"True at {one.satisfied:,} of {self._known:,}."
        if one.alone:
            said += f" Without it {units.count(one.alone, 'more resource')} would match."
        return said


def worth_a_line(one: ClauseCountView, known: int) -> bool:
    """False for a condition of the broker that holds everywhere: nobody wrote it, and it decides nothing."""
    return one.origin == "requirements" or one.satisfied < known


class ClauseList(QFrame):
    """The counts as a small table; a click chooses a clause, another one or Escape lets go of it."""

    clauseChosen = Signal(object)
    """ClauseCount, or None when it is let go of."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.model, self.table = ClauseTable(self), RowTable(theme, "Clauses and where they hold", self)
        self.table.setModel(self.model)
        self.table.widths(120, 136, 84, stretched=CLAUSE, compact=True)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._chosen = ""
        self.table.clicked.connect(lambda index: self._toggle(index.row()))
        self.table.opened.connect(self._toggle)
        self.table.escaped.connect(self.let_go)
        theme.changed.connect(self._fit)

    def show_report(self, report: MatchReport) -> None:
        """Show the counts of a report."""
        self.model.show_report(report)
        self.setVisible(bool(self.model.clauses))
        self._fit()
        rows = [row for row, one in enumerate(self.model.clauses) if one.text == self._chosen]
        if rows:
            self.table.selectRow(rows[0])
        elif self._chosen:
            self.let_go()

    def _toggle(self, row: int) -> None:
        clause = self.model.clauses[row]
        if clause.text == self._chosen:
            self.let_go()
            return
        self._chosen = clause.text
        self.table.selectRow(row)
        self.clauseChosen.emit(clause)

    def let_go(self) -> None:
        """No clause is chosen any more."""
        chosen, self._chosen = self._chosen, ""
        self.table.clearSelection()
        if chosen:
            self.clauseChosen.emit(None)

    def _fit(self) -> None:
        lines = min(_MOST_LINES, len(self.model.clauses))
        height = self.table.horizontalHeader().sizeHint().height() + lines * self._theme.height(compact=True)
        self.setFixedHeight(height + 2)
        self.table.resize(self.width(), height + 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the frame; a narrow one keeps the two columns that matter most."""
        super().resizeEvent(event)
        self.table.resize(event.size())
        self.table.setColumnHidden(WITHOUT, event.size().width() < _NARROW)
