"""Every attribute that is known of a computing element, with its value, source and age."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import units
from app.widgets.cells import FONT, TONE
from app.widgets.csv_file import Written

if TYPE_CHECKING:
    from broker_core.wire.resources import AttributeView

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
TITLES = ("Attribute", "Value", "Source", "Heard")
NAME, VALUE, SOURCE, HEARD = range(4)


class Attributes(QAbstractTableModel):
    """One row for each attribute, by name; a filter looks through names and values."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._all: list[AttributeView] = []
        self._shown: list[AttributeView] = []
        self._wanted = ""

    def show_attributes(self, attributes: list[AttributeView]) -> None:
        """Show these attributes through the filter."""
        self._all = sorted(attributes, key=lambda one: one.name.lower())
        self.filter(self._wanted)

    def csv(self) -> Written:
        """Return the attributes that are shown."""
        rows = [[one.name, one.value, one.source, units.exact(one.heard)] for one in self._shown]
        return Written(("attribute", "value", "source", "heard"), rows)

    def filter(self, wanted: str) -> None:
        """Show only attributes whose name or value contains this."""
        self._wanted = wanted.strip().lower()
        self.beginResetModel()
        self._shown = [
            one for one in self._all if self._wanted in f"{one.name} {value_text(one.value)}".lower()
        ]
        self.endResetModel()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Attributes that pass the filter."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Attribute, value, source, age."""
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text of a cell; values that other sources say differently stand in the tooltip."""
        one, column = self._shown[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return (one.name, value_text(one.value), one.source, _age(one))[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            others = [f"{source} says {value_text(value)}" for source, value in one.others.items()]
            return "\n".join([f"{one.name} = {value_text(one.value)}", *others, units.exact(one.heard)])
        if role == FONT:
            return "mono" if column == NAME else None
        if role == TONE:
            return "warning" if column == VALUE and one.others else "text" if column == VALUE else "muted"
        return None


def _age(one: AttributeView) -> str:
    return "fixed" if one.static else units.ago(one.heard, time.time())


def value_text(value: Any) -> str:
    """Return a value as it would stand in a description."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "{" + ", ".join(map(value_text, value)) + "}"
    return str(value)
