"""The list of what is wrong with a description, each with its place and its quick fixes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.context import AppContext
from app.units import counted
from app.widgets.csv_file import Written
from app.widgets.export import offer_gathered
from app.widgets.severity import SEVERITY_ICONS
from broker_core.wire.checks import DiagnosticView, FixView

_ROW = 28
_ROWS_SHOWN = 4
_MOST = 200


class Problems(QWidget):
    """The panel under the text."""

    chosen = Signal(object)
    """A Diagnostic to be shown in the text."""
    fixAsked = Signal(object)
    """A Fix to be done in the text."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._theme = theme = context.theme
        self.problems: tuple[DiagnosticView, ...] = ()
        self._invitation = ""
        self.summary = QLabel()
        self.icon = QLabel()
        self.table = self._make_table()
        offer_gathered(context, self.table, "problems", "problem", self.gather)
        self._lay_out()
        self.show_problems(())
        theme.changed.connect(self._dress)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 3)
        table.setAccessibleName(self.tr("Problems"))
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(2, QHeaderView.ResizeMode.Fixed)
        table.horizontalHeader().setMinimumSectionSize(8)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(_ROW)
        table.setShowGrid(False)
        table.setFrameShape(QTableWidget.Shape.NoFrame)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.itemActivated.connect(self._activated)
        table.itemClicked.connect(self._activated)
        return table

    def _lay_out(self) -> None:
        heading = QHBoxLayout()
        heading.setContentsMargins(12, 4, 12, 4)
        heading.setSpacing(8)
        heading.addWidget(self.icon)
        heading.addWidget(self.summary)
        heading.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(heading)
        column.addWidget(self.table)

    def _dress(self) -> None:
        self._show(self.problems)

    def invite(self, sentence: str) -> None:
        """Say what to begin with in place of problems, which an empty description does not have."""
        self._invitation = sentence
        self._show(())

    def show_problems(self, problems: Sequence[DiagnosticView]) -> None:
        """Show these problems in place of the old ones, errors first."""
        self._invitation = ""
        self._show(problems)

    def _show(self, problems: Sequence[DiagnosticView]) -> None:
        order = list(SEVERITY_ICONS)
        self.problems = tuple(sorted(problems, key=lambda p: (order.index(p.severity), p.line, p.column)))
        shown = self.problems[:_MOST]
        self.table.setRowCount(len(shown))
        widths = [self._fill_row(row, problem) for row, problem in enumerate(shown)]
        self.table.setColumnWidth(2, max(widths, default=0))
        self.table.setVisible(bool(shown))
        self.table.setFixedHeight(_ROW * min(_ROWS_SHOWN, len(shown)) + 2)
        self._show_summary()

    def _fill_row(self, row: int, problem: DiagnosticView) -> int:
        """Fill a row; returns how wide its buttons are, in pixels."""
        message = QTableWidgetItem(self._theme.icon(*SEVERITY_ICONS[problem.severity]), problem.message)
        message.setToolTip(problem.message)
        spoken = f"{problem.severity}: {problem.message}"
        message.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
        place = self.tr("line {0}").format(problem.line) if problem.line else ""
        where = QTableWidgetItem(place)
        where.setForeground(self._theme.color("muted"))
        self.table.setItem(row, 0, message)
        self.table.setItem(row, 1, where)
        buttons = self._fix_buttons(problem)
        self.table.setCellWidget(row, 2, buttons)
        return buttons.sizeHint().width() + 16 if problem.fixes else 8

    def _fix_buttons(self, problem: DiagnosticView) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(4, 1, 8, 1)
        for fix in problem.fixes[:2]:
            button = QPushButton(self._theme.icon("wand-sparkles", "accent"), fix.title)
            button.setProperty("kind", "quiet")
            button.setStyleSheet("padding: 1px 6px")
            button.setToolTip(self.tr("Apply this fix (Ctrl+. applies the first one)"))
            button.clicked.connect(lambda _on=False, fix=fix: self.fixAsked.emit(fix))
            row.addWidget(button)
        return holder

    def _show_summary(self) -> None:
        count = {name: sum(p.severity == name for p in self.problems) for name in SEVERITY_ICONS}
        counts = [
            counted(count["error"], self.tr("error"), self.tr("errors")) if count["error"] else "",
            counted(count["warning"], self.tr("warning"), self.tr("warnings")) if count["warning"] else "",
            counted(count["hint"], self.tr("hint"), self.tr("hints")) if count["hint"] else "",
        ]
        nothing = self._invitation or self.tr("No problems found")
        self.summary.setText(", ".join(filter(None, counts)) or nothing)
        worst = next((name for name in SEVERITY_ICONS if count[name]), "")
        icon = (
            self._theme.icon(*SEVERITY_ICONS[worst])
            if worst
            else self._theme.icon(*(("info", "muted") if self._invitation else ("circle-check", "positive")))
        )
        self.icon.setPixmap(icon.pixmap(16, 16))

    async def gather(self) -> Written:
        """All problems as a table, those too that are too many to be shown."""
        rows = [[one.severity, one.line or None, one.column or None, one.message] for one in self.problems]
        return Written(["severity", "line", "column", "problem"], rows)

    def fix_first(self) -> None:
        """Do the first fix of the chosen problem, or of the first one that has any."""
        row = max(self.table.currentRow(), 0)
        ordered = [*self.problems[row : row + 1], *self.problems]
        fix: FixView | None = next((problem.fixes[0] for problem in ordered if problem.fixes), None)
        if fix is not None:
            self.fixAsked.emit(fix)

    def _activated(self, item: QTableWidgetItem) -> None:
        self.chosen.emit(self.problems[item.row()])
