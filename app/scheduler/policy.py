"""Choosing the policies: in which order candidates are taken, and in which order jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QWidget

from app.widgets.labels import label

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.queue import PolicyView

KINDS = (("order", "Order of resources"), ("queue", "Order of jobs"))
"""Kind of policy and what it is called."""


class PolicySelector(QWidget):
    """One list for each kind; what cannot be loaded stands there greyed, with its error."""

    chosen = Signal(str, str)
    """Kind and name."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._views: list[PolicyView] = []
        self.boxes = {kind: QComboBox() for kind, _ in KINDS}
        self.docs = {kind: label(role="small", wrap=True) for kind, _ in KINDS}
        self.errors = label(role="negative", wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(12, 8, 12, 8)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(2)
        for place, (kind, title) in enumerate(KINDS):
            box = self.boxes[kind]
            box.setAccessibleName(title)
            box.setMinimumWidth(160)
            box.activated.connect(lambda row, kind=kind: self._activated(kind, row))
            grid.addWidget(label(title, "section"), 0, place)
            grid.addWidget(box, 1, place)
            grid.addWidget(self.docs[kind], 2, place, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(place, 1)
        grid.addWidget(self.errors, 3, 0, 1, len(KINDS))
        self.show_policies([])

    def show_policies(self, views: list[PolicyView]) -> None:
        """Show what can be chosen and what is."""
        if views == self._views and views:
            return
        self._views = views
        for kind, box in self.boxes.items():
            mine = [one for one in views if one.kind == kind]
            box.clear()
            for row, one in enumerate(mine):
                box.addItem(title(one), one.name)
                box.setItemData(row, f"{one.origin}\n{one.error or one.doc}", Qt.ItemDataRole.ToolTipRole)
                model = box.model()
                assert isinstance(model, QStandardItemModel)  # what a box makes for itself
                model.item(row).setEnabled(not one.error)
                if one.chosen:
                    box.setCurrentIndex(row)
            box.setEnabled(bool(mine))
            self._tell(kind)
        bad = [one for one in views if one.error]
        self.errors.setText("\n".join(f"{one.origin}: {one.error}" for one in bad))
        self.errors.setVisible(bool(bad))

    def _activated(self, kind: str, row: int) -> None:
        name = self.boxes[kind].itemData(row)
        if any(one.name == name and one.kind == kind and not one.chosen for one in self._views):
            self.chosen.emit(kind, name)

    def _tell(self, kind: str) -> None:
        here = next((one for one in self._views if one.kind == kind and one.chosen), None)
        self._say(self.docs[kind], here)

    def _say(self, where: QLabel, one: PolicyView | None) -> None:
        if one is None:
            where.setText("")
            return
        first = one.doc.strip().partition("\n\n")[0].replace("\n", " ")
        where.setText(f"{first}  ({one.origin})" if one.origin != "built-in" else first)
        where.setToolTip(one.doc)


def title(one: PolicyView) -> str:
    """Return a policy's name as people read it, with what is unusual about it."""
    name = one.name.replace("-", " ").replace("_", " ")
    shown = name.upper() if name == "fcfs" else name[:1].upper() + name[1:]
    if one.error:
        return f"{shown} ({'failed' if one.chosen else 'cannot be loaded'})"
    return (
        shown if one.origin == "built-in" else f"{shown} (yours)" if "/" in one.origin else f"{shown} (added)"
    )
