"""Find in a terminal: what is on the screen and everything scrolled out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from app.widgets.labels import label

if TYPE_CHECKING:
    from app.console.terminal.view import TerminalView
    from app.context import AppContext

_AFTER_TYPING = 120


class ConsoleSearch(QWidget):
    """A line of text, the number of hits, older and newer."""

    def __init__(self, context: AppContext, view: TerminalView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self.text, self.told = QLineEdit(), label(role="small")
        self.text.setPlaceholderText("Find in the console")
        self.text.setAccessibleName("Find in the console")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 8, 6)
        row.setSpacing(4)
        row.addWidget(self.text, 1)
        row.addWidget(self.told)
        for icon, said, act in (
            ("chevron-up", "Older hit", lambda: self.step(-1)),
            ("chevron-down", "Newer hit", lambda: self.step(1)),
            ("x", "Close", self.end),
        ):
            button = QToolButton()
            button.setIcon(context.theme.icon(icon))
            button.setToolTip(said)
            button.setAccessibleName(said)
            button.clicked.connect(act)
            row.addWidget(button)
        self._typed = QTimer(self, singleShot=True, interval=_AFTER_TYPING)
        self._typed.timeout.connect(self._search)
        self.text.textChanged.connect(lambda: self._typed.start())
        self.text.returnPressed.connect(lambda: self.step(-1))
        view.finding.found.connect(lambda hits: self._say(0, hits))

    def begin(self) -> None:
        """Open, ready to type."""
        self.show()
        self.text.setFocus()
        self.text.selectAll()

    def end(self) -> None:
        """Close, and go on with the program."""
        self.text.clear()
        self._view.find_text("")
        self.hide()
        self._view.setFocus()

    def step(self, way: int) -> None:
        """Go to the next hit, -1 towards the past."""
        if self._typed.isActive():
            self._typed.stop()
            self._search()
        self._say(*self._view.find_step(way))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)

    def _search(self) -> None:
        self.told.clear()
        self._view.find_text(self.text.text())

    def _say(self, place: int, hits: int) -> None:
        if not self.text.text():
            self.told.clear()
        elif not hits:
            self.told.setText("Not found")
        else:
            self.told.setText(f"{place} of {hits:,}" if place else f"{hits:,} found")
