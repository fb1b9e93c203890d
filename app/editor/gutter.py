"""The margin of the text: line numbers, and a mark on every line that has a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from app.widgets.severity import SEVERITY_ICONS

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.checks import DiagnosticView

_MARK = 12
"""Pixels of the mark of a problem."""
_GAP = 8


class NumberedText(Protocol):
    """What the margin asks of the text beside it."""

    theme: Theme

    def visible_blocks(self) -> Iterator[tuple[QTextBlock, QRect]]:
        """The lines on the screen with their rectangles."""
        ...

    def problems_of_line(self, line: int) -> list[DiagnosticView]:
        """The problems on a line (1-based)."""
        ...

    def block_at(self, y: int) -> QTextBlock:
        """The line at a height in pixels."""
        ...

    def select_line(self, line: int) -> None:
        """Select a line (1-based)."""
        ...


class Gutter(QWidget):
    """Painted beside an edit with the lines of its text; a click on a line number selects the line."""

    def __init__(self, edit: QPlainTextEdit, source: NumberedText) -> None:
        super().__init__(edit)
        self._edit, self._source = edit, source
        self.setAccessibleName(self.tr("Line numbers"))

    def sizeHint(self) -> QSize:
        """Wide enough for the last line's number and a mark."""
        digits = max(2, len(str(self._edit.blockCount())))
        return QSize(self._edit.fontMetrics().horizontalAdvance("9") * digits + _MARK + 3 * _GAP, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the numbers of the visible lines."""
        painter = QPainter(self)
        theme = self._source.theme
        painter.fillRect(event.rect(), theme.color("sunken"))
        painter.setFont(self._edit.font())
        current = self._edit.textCursor().blockNumber()
        for block, rect in self._source.visible_blocks():
            token = "text" if block.blockNumber() == current else "muted"
            painter.setPen(theme.color(token))
            numbers = QRect(0, rect.top(), self.width() - _GAP, rect.height())
            painter.drawText(numbers, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            self._paint_mark(painter, block, rect)

    def _paint_mark(self, painter: QPainter, block: QTextBlock, rect: QRect) -> None:
        found = self._source.problems_of_line(block.blockNumber() + 1)
        if not found:
            return
        worst = min(found, key=lambda problem: list(SEVERITY_ICONS).index(problem.severity))
        icon = self._source.theme.icon(*SEVERITY_ICONS[worst.severity])
        height = self._edit.fontMetrics().height()
        icon.paint(painter, QRect(_GAP // 2, rect.top() + (height - _MARK) // 2, _MARK, _MARK))

    def event(self, event: QEvent) -> bool:
        """Say in a tooltip what is wrong with the line under the pointer."""
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return super().event(event)
        block = self._source.block_at(event.pos().y())
        found = self._source.problems_of_line(block.blockNumber() + 1)
        QToolTip.showText(event.globalPos(), "\n".join(problem.message for problem in found), self)
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the line that was clicked."""
        self._source.select_line(self._source.block_at(int(event.position().y())).blockNumber() + 1)
