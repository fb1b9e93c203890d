"""The line over the list of resources: text, which of them, and sites that need an account first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.inspector.labels import label

if TYPE_CHECKING:
    from app.context import Theme

_PAUSE_MS = 150
_WHICH = (("All", "all"), ("Matching", "matching"), ("Not matching", "rejected"))


class Filters(QWidget):
    """Emits what is wanted once typing pauses."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = QLineEdit(placeholderText="Filter by site, queue or reason")
        self.edit.setAccessibleName("Filter resources")
        self.edit.setClearButtonEnabled(True)
        sign = theme.icon("list-filter", "muted")
        self.edit.addAction(sign, QLineEdit.ActionPosition.LeadingPosition).setToolTip("Filter")
        self.which = QComboBox()
        self.which.setAccessibleName("Which resources are shown")
        for title, word in _WHICH:
            self.which.addItem(title, word)
        self.access = QCheckBox("Also sites without an account")
        self.access.setToolTip("Count sites that this broker cannot send jobs to yet as if it could")
        self.count = label(role="small")
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        self.edit.textChanged.connect(lambda _: self._pause.start())
        self.which.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.access.toggled.connect(lambda _: self.changed.emit())
        self._lay_out()

    def _lay_out(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        self._first = first
        first.setSpacing(8)
        first.addWidget(self.edit, 1)
        first.addWidget(self.which)
        second.addWidget(self.access)
        second.addStretch(1)
        second.addWidget(self.count, 0, Qt.AlignmentFlag.AlignRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(8)
        column.addLayout(first)
        column.addLayout(second)

    def fields(self) -> dict[str, object]:
        """Return the fields of the question that are chosen here."""
        return {"text": self.edit.text().strip(), "only": self.which.currentData(),
                "assume_access": self.access.isChecked()}  # fmt: skip

    def add(self, button: QWidget) -> None:
        """Put a button behind the choices."""
        self._first.addWidget(button)

    def reset(self) -> None:
        """Let everything through."""
        self.edit.clear()
        self.which.setCurrentIndex(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape empties the text."""
        if event.key() == Qt.Key.Key_Escape and self.edit.text():
            self.edit.clear()
        else:
            super().keyPressEvent(event)
