"""What a session lacks, and why, said once above its screen until it is put away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from app.inspector.labels import give_way, label

if TYPE_CHECKING:
    from app.context import Desk

_ICON = 16


class Lacking(QFrame):
    """A sentence with a sign; hidden while there is nothing to say."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.setProperty("role", "banner-warning")
        self._sign, self.text = QLabel(), label(wrap=True)
        self.away = QToolButton(toolTip="Put this note away", autoRaise=True)
        self.away.setAccessibleName("Put this note away")
        self.away.clicked.connect(self.hide)
        give_way(self.text)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        row.addWidget(self.away, 0, Qt.AlignmentFlag.AlignTop)
        desk.theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def tell(self, notice: str) -> None:
        """Say what is missing; the same again is not said again."""
        if notice != self.text.text():
            self.text.setText(notice)
            self.setVisible(bool(notice))

    def _dress(self) -> None:
        self._sign.setPixmap(self._desk.theme.icon("info", "warning").pixmap(_ICON, _ICON))
        self.away.setIcon(self._desk.theme.icon("x", "muted"))
