"""Input by lines, as the bypass agent takes it: at Enter, with what waits to be sent in sight (CB-BYP-07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.console.words import size
from app.inspector.labels import label

if TYPE_CHECKING:
    from app.context import Desk

_KEPT = 200
"""Lines that the arrow keys bring back."""


class _Line(QLineEdit):
    """A line with its history."""

    def __init__(self) -> None:
        super().__init__()
        self._past: list[str] = []
        self._place = 0

    def remember(self, text: str) -> None:
        if text and self._past[-1:] != [text]:
            self._past = [*self._past[-_KEPT + 1 :], text]
        self._place = len(self._past)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        self._place = min(max(0, self._place + step), len(self._past))
        self.setText(self._past[self._place] if self._place < len(self._past) else "")


class LineEntry(QWidget):
    """One line to type, sent at Enter; below it how much waits for the connection."""

    entered = Signal(str)
    ended = Signal()
    """No input follows."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line, self.waiting = _Line(), label(role="small")
        self.end = QPushButton("End of input")
        self.end.setToolTip("The program reads no more after this (Ctrl-D)")
        self.line.setFont(desk.theme.font("mono"))
        self.line.setPlaceholderText("Type a line for the program, then Enter")
        self.line.setAccessibleName("Line for the program")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.end)
        column.addLayout(row)
        column.addWidget(self.waiting)
        self.waiting.hide()
        self.line.returnPressed.connect(self._entered)
        self.end.clicked.connect(self.ended)

    def show_waiting(self, unsent: int) -> None:
        """Tell how much was typed and has not reached the program's node."""
        self.waiting.setText(f"{size(unsent)} wait to be sent; nothing is lost.")
        self.waiting.setVisible(bool(unsent))

    def _entered(self) -> None:
        text = self.line.text()
        self.line.remember(text)
        self.line.clear()
        self.entered.emit(text)
