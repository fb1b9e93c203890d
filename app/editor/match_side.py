"""Beside a description: where it could run now, and why not elsewhere."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from app.context import AppContext
from app.match.view import MatchView


class WhereSide(QWidget):
    """The broker's match report for the text of an editor."""

    againAsked = Signal()
    """Ask once more, with the text as it is now."""
    closed = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.view = MatchView(context)
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Where can it run"))
        heading = QHBoxLayout()
        heading.setContentsMargins(16, 8, 8, 0)
        title = QLabel(self.tr("Where can it run"))
        title.setProperty("role", "strong")
        heading.addWidget(title, 1)
        heading.addWidget(self._button(context, "refresh-cw", self.tr("Ask again"), self.againAsked))
        heading.addWidget(self._button(context, "x", self.tr("Back to the form"), self.closed))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(heading)
        column.addWidget(self.view, 1)

    def _button(self, context: AppContext, icon: str, tip: str, signal: SignalInstance) -> QToolButton:
        button = QToolButton()
        button.setIcon(context.theme.icon(icon))
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.clicked.connect(signal)
        return button
