"""The figures of a replay: what came of it in one line of numbers, waits and sites as tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.theme.theme import Theme

_SITES = 12
_ROW = 28
_SPREAD = (("Mean", "mean"), ("Median", "median"), ("95 % below", "p95"), ("Most", "most"))


def legend(theme: Theme, names: Sequence[str]) -> str:
    """Return names in rich text, each behind a square in the color of its line."""
    return " &nbsp; ".join(
        f"<span style='color:{theme.color(f'series-{nth + 1}').name()}'>■</span> {escape(name)}"
        for nth, name in enumerate(names)
    )


class FigureTable(QTableWidget):
    """A small table to be read: the first column names the row, the others are numbers."""

    def __init__(self, name: str, heads: list[str]) -> None:
        super().__init__(0, len(heads))
        self.setAccessibleName(name)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setSectionsClickable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.set_heads(heads)

    def set_heads(self, heads: Sequence[str]) -> None:
        """Name the columns, of which there are as many."""
        self.setColumnCount(len(heads))
        self.setHorizontalHeaderLabels(heads)
        if (first := self.horizontalHeaderItem(0)) is not None:
            first.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def cell(self, row: int, column: int) -> QTableWidgetItem:
        """Return the cell of a row that is there."""
        item = self.item(row, column)
        assert item is not None  # `show_rows` fills all of them
        return item

    def show_rows(self, rows: list[list[str]]) -> None:
        """Show rows of text; the table is as high as they are."""
        self.setRowCount(len(rows))
        for at, row in enumerate(rows):
            for column, text in enumerate(row):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
                item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(at, column, item)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + _ROW * len(rows) + 4)


class Figures(QWidget):
    """Numbers and tables of one result."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.sentence = QLabel(wordWrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.spread = FigureTable("Waits and slowdowns", ["", *(head for head, _ in _SPREAD)])
        self.sites = FigureTable("Sites", ["Site", "CPUs", "Jobs", "In use"])
        self.more = QLabel()
        self.more.setProperty("role", "small")
        self._numbers = QHBoxLayout()
        self._numbers.setSpacing(32)
        self.shown: dict[str, str] = {}
        """Names of the numbers to their text."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(self._numbers)
        for part in (self.sentence, self.spread):
            column.addWidget(part)

    def show_result(self, result: dict[str, Any]) -> None:
        """Show all of a result."""
        figures = result["summary"]
        self._show_numbers(
            {
                "of all CPUs used": f"{figures['utilization']:.1%}",
                "mean wait": units.duration(figures["wait"]["mean"]),
                "mean bounded slowdown": f"{figures['bounded_slowdown']['mean']:,.2f}",
                "of virtual time": units.duration(figures["makespan"]),
                "jobs replayed a second": f"{figures['jobs'] / max(result['took'], 1e-9):,.0f}",
            }
        )
        self.sentence.setText(_sentence(result))
        self.spread.show_rows(
            [
                ["Wait", *(units.duration(figures["wait"][key]) for _, key in _SPREAD)],
                ["Slowdown", *(f"{figures['slowdown'][key]:,.2f}" for _, key in _SPREAD)],
                ["Bounded slowdown", *(f"{figures['bounded_slowdown'][key]:,.2f}" for _, key in _SPREAD)],
            ]
        )
        self._show_sites(result["sites"])

    def _show_numbers(self, numbers: dict[str, str]) -> None:
        self.shown = numbers
        while self._numbers.count():
            item = self._numbers.takeAt(0)
            if item is not None and (part := item.widget()) is not None:
                part.deleteLater()
        for name, text in numbers.items():
            self._numbers.addWidget(_Number(self._theme, text, name))
        self._numbers.addStretch(1)

    def _show_sites(self, sites: list[dict[str, Any]]) -> None:
        self.sites.show_rows(
            [
                [site["site"], f"{site['cpus']:,}", f"{site['jobs']:,}", f"{site['utilization']:.1%}"]
                for site in sites[:_SITES]
            ]
        )
        left = len(sites) - _SITES
        self.more.setText(f"and {units.count(left, 'more site')}" if left > 0 else "")


class _Number(QWidget):
    """A large number over what it counts."""

    def __init__(self, theme: Theme, text: str, name: str) -> None:
        super().__init__()
        number, label = QLabel(text), QLabel(name)
        number.setProperty("role", "title")
        label.setProperty("role", "small")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(number)
        column.addWidget(label)


def _sentence(result: dict[str, Any]) -> str:
    figures = result["summary"]
    text = (
        f"{figures['finished']:,} of {units.count(figures['jobs'], 'job')} of {result['trace']} ran on"
        f" {units.count(figures['sites'], 'site')} with {figures['cpus']:,} CPUs,"
        f" ordered by {result['policy']}, queue {result['queue']}."
    )
    if figures["given_up"]:
        text += f" {figures['given_up']:,} were given up: no site could ever take them."
    if result["left_out"]:
        text += f" {result['left_out']:,} more have no run time and were left out."
    if result["acknowledge"]:
        text += f" The trace is by courtesy of {result['acknowledge']}."
    return text
