"""Columns as wide as their cells need, measured no more often than what they show changes."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.theme.theme import Theme
from app.widgets.table import NOWHERE, Index, RowTable, TitledModel


class Words(TitledModel):
    """One word a row beside a number."""

    TITLES = ("Word", "Number")

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.words = words

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.words)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self.words[index.row()] if index.column() == 0 else str(index.row())


class Measured(RowTable):
    """A table that counts the cells whose width it asks for."""

    cells_measured = 0

    def _cell_width(self, row: int, column: int) -> int:
        self.cells_measured += 1
        return super()._cell_width(row, column)


@pytest.fixture
def table(qapp: QApplication, qtbot: QtBot) -> Measured:
    """As it is after its first turn."""
    made = Measured(Theme(qapp), "words")
    qtbot.addWidget(made)
    made.setModel(Words(["a", "bb", *["c"] * 200]))
    made.widths(40, 40, stretched=1)
    made.resize(400, 300)
    made.show()
    qapp.processEvents()
    return made


def test_more_room_measures_only_rows_that_come_into_sight(table: Measured) -> None:
    table.cells_measured = 0
    table.resize(500, 300)
    assert table.cells_measured == 0
    before = table.rowAt(table.viewport().height() - 1)
    table.resize(500, 400)
    after = table.rowAt(table.viewport().height() - 1)
    assert after > before
    assert table.cells_measured == 2 * (after - before)
    assert table.columnWidth(0) + table.columnWidth(1) == table.viewport().width()


def test_words_that_changed_are_measured_again(table: Measured) -> None:
    narrow = table.columnWidth(0)
    model = table.model()
    assert isinstance(model, Words)
    model.words[1] = "a much longer word than before"
    model.dataChanged.emit(model.index(1, 0), model.index(1, 0))
    table.resize(500, 300)  # in the same turn
    assert table.columnWidth(0) > narrow
