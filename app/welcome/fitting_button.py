"""A button with words that somebody else chose, of whatever length."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

_LEAST = "wwww…"
"""What is seen of the words at least."""


class FittingButton(QPushButton):
    """Cuts its words where there is no room for them; the tooltip has them whole. None is a shortcut."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._show(words)
        self.setAccessibleName(words)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """The room for all words."""
        return self._with(self._words)

    def minimumSizeHint(self) -> QSize:
        """The room for the first letters."""
        return self._with(min(_LEAST, self._words, key=self.fontMetrics().horizontalAdvance))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the words as fits."""
        super().resizeEvent(event)
        lacking = self.sizeHint().width() - event.size().width()
        room = self.fontMetrics().horizontalAdvance(self._words) - lacking
        cut = self.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, room)
        # Never without any words: the style would make room for some of its own.
        self._show(cut or "…" if lacking > 0 else self._words)

    def _show(self, words: str) -> None:
        self._shown = words
        self.setText(words.replace("&", "&&"))
        self.setToolTip("" if words == self._words else self._words)

    def _around(self) -> int:
        """Pixels beside the words."""
        return super().sizeHint().width() - self.fontMetrics().horizontalAdvance(self._shown)

    def _with(self, words: str) -> QSize:
        width = self._around() + self.fontMetrics().horizontalAdvance(words)
        return QSize(width, super().sizeHint().height())
