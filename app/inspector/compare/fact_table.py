"""Facts of several jobs as a table: a column for each job, equal rows muted, rows that differ strong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.inspector.compare.facts import Fact
from app.theme.theme import BASE, Theme
from app.widgets.cells import FONT, TONE
from app.widgets.table import RowTable

_NAMES = 132
"""Pixels of the column with the names of the facts."""
_Index = QModelIndex | QPersistentModelIndex


class FactModel(QAbstractTableModel):
    """Facts with a row before each section that has a name."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[Fact | str] = []
        """Facts, and the names of the sections that begin."""
        self.titles: Sequence[str] = ()

    def show_facts(self, facts: Sequence[Fact], titles: Sequence[str]) -> None:
        """Show these facts of jobs with these titles."""
        rows: list[Fact | str] = []
        section = ""
        for fact in facts:
            if fact.section != section:
                section = fact.section
                rows.append(section)
            rows.append(fact)
        if rows == self.rows and titles == self.titles:
            return
        self.beginResetModel()
        self.rows, self.titles = rows, titles
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 1 + len(self.titles)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if isinstance(row, str):
            heading = {Qt.ItemDataRole.DisplayRole: row, FONT: "strong", TONE: "muted"}
            return heading.get(role) if not column else None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row.values[column - 1] if column else row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.titles[column - 1]}: {row.values[column - 1]}" if column else row.name
        if role == TONE:
            return "text" if row.differs else "muted"
        if role == FONT:
            return "strong" if row.differs and column else ""
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if isinstance(self.rows[index.row()], str):
            return Qt.ItemFlag.NoItemFlags
        return super().flags(index)


def names_width(theme: Theme) -> int:
    """Pixels of the column with the names of the facts, in the size of text in force."""
    return round(_NAMES * theme.size / BASE)


class FactTable(RowTable):
    """The table; all jobs have equally wide columns."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self.facts: Sequence[Fact] = ()
        self._titles: Sequence[str] = ()
        self._only = False
        self.model_ = FactModel(self)
        self.setModel(self.model_)
        self.horizontalHeader().hide()
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self._share_width)

    def show_facts(self, facts: Sequence[Fact], titles: Sequence[str]) -> None:
        """Show these facts of jobs with these titles."""
        self.facts, self._titles = facts, titles
        self._show_wanted()

    def set_only_differences(self, on: bool) -> None:
        """Leave out what is equal, or show it too."""
        self._only = on
        self._show_wanted()

    def fact(self) -> Fact | None:
        """The current row, or None for none."""
        row = self.row()
        found = self.model_.rows[row] if 0 <= row < len(self.model_.rows) else None
        return found if isinstance(found, Fact) else None

    def _show_wanted(self) -> None:
        wanted = [one for one in self.facts if one.differs or not self._only]
        self.model_.show_facts(wanted, self._titles)
        self._share_width()

    def _share_width(self) -> None:
        columns = len(self._titles)
        if not columns:
            return
        names = names_width(self._theme)
        self.setColumnWidth(0, names)
        room = self.viewport().width() - names
        for column in range(columns):
            width = (column + 1) * room // columns - column * room // columns
            self.setColumnWidth(column + 1, max(40, width))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the columns of the jobs equally wide."""
        super().resizeEvent(event)
        self._share_width()
