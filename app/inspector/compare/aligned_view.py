"""Texts side by side in one view: they scroll together because they are the rows of one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app import units
from app.inspector.compare.alignment import AlignedRow, AlignedTexts, FoldedRows

if TYPE_CHECKING:
    from app.context import AppContext

_LONGEST = 4000
"""Characters of a line that are painted and measured."""
_MARKED = 1000
"""Equal characters at the beginning and the end of a line that are looked for, to mark those between."""
_GAP = 8


class AlignedView(QAbstractScrollArea):
    """A column for each text, a row for each line that they have in common or not."""

    def __init__(self, context: AppContext, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.content = AlignedTexts()
        self._shown: Sequence[int | FoldedRows] = ()
        self._only = False
        self._current = -1
        """Number of the row that was stepped to, of those shown."""
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)
        self._tell = QTimer(self, singleShot=True, interval=400)
        self._tell.timeout.connect(lambda: self.setAccessibleDescription("\n".join(self.visible_lines())))
        context.theme.changed.connect(self._remeasure)
        self._remeasure()

    def show_content(self, content: AlignedTexts) -> None:
        """Show these texts from the beginning."""
        self.content = content
        self._fold()
        self.verticalScrollBar().setValue(0)
        self.horizontalScrollBar().setValue(0)

    def set_only_differences(self, on: bool) -> None:
        """Fold rows that are equal in all texts, or show them too."""
        self._only = on
        self._fold()

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) stretch of rows that differ."""
        order = range(self._current + 1, len(self._shown)) if by > 0 else range(self._current - 1, -1, -1)
        for number in order:
            if self._differs(number) and not (number and self._differs(number - 1)):
                self._current = number
                self._show_current()
                return

    def _show_current(self) -> None:
        """Bring the current row to the top, and what differs in it into view."""
        row = self._shown[self._current]
        self.verticalScrollBar().setValue(self._current)
        if isinstance(row, int):
            lines = self.content.rows[row].lines
            texts = [self._line(column, line) for column, line in enumerate(lines)]
            begin = changed_parts(texts, lines)[0][0] * self._char
            room = self._column_width() - self._gutter()
            self.horizontalScrollBar().setValue(int(begin - room / 3) if begin > room * 2 / 3 else 0)
        self.viewport().update()

    def visible_lines(self) -> list[str]:
        """What is on screen, a text for each row with the columns between bars."""
        first = self.verticalScrollBar().value()
        return [self._row_text(row) for row in self._shown[first : first + self._fitting()]]

    def _row_text(self, row: int | FoldedRows) -> str:
        if isinstance(row, FoldedRows):
            return _folded_words(row)
        cells = (self._line(column, line) for column, line in enumerate(self.content.rows[row].lines))
        return " | ".join(cells)

    def _line(self, column: int, line: int) -> str:
        return self.content.texts[column][line][:_LONGEST] if line >= 0 else ""

    def _differs(self, number: int) -> bool:
        row = self._shown[number]
        return not isinstance(row, FoldedRows) and not self.content.rows[row].equal

    def _fold(self) -> None:
        self._current = -1
        self._shown = self.content.folded if self._only else range(len(self.content.rows))
        self._measure()

    # Measures

    def _remeasure(self) -> None:
        self._font = self._context.theme.font("mono")
        metrics = QFontMetricsF(self._font)
        self._height, self._char = metrics.height() + 2, metrics.horizontalAdvance("0")
        self._ascent = metrics.ascent() + 1
        self._measure()

    def _fitting(self) -> int:
        return max(1, int(self.viewport().height() / self._height))

    def _gutter(self) -> float:
        lines = max((len(text) for text in self.content.texts), default=0)
        return self._char * (max(2, len(str(lines))) + 1) + _GAP

    def _column_width(self) -> float:
        return self.viewport().width() / max(1, len(self.content.texts))

    def _measure(self) -> None:
        bar, across = self.verticalScrollBar(), self.horizontalScrollBar()
        bar.setRange(0, max(0, len(self._shown) - self._fitting()))
        bar.setPageStep(max(1, self._fitting() - 1))
        room = max(1.0, self._column_width() - self._gutter() - 2 * _GAP)
        across.setRange(0, max(0, int(min(self.content.longest, _LONGEST) * self._char - room)))
        across.setPageStep(int(room))
        across.setSingleStep(int(self._char * 4))
        self._scrolled()

    def _scrolled(self) -> None:
        self._tell.start()
        self.viewport().update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows on screen."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), self._context.theme.color("surface"))
        painter.setFont(self._font)
        first = self.verticalScrollBar().value()
        for number, row in enumerate(self._shown[first : first + self._fitting() + 1]):
            top = number * self._height
            if isinstance(row, FoldedRows):
                self._paint_fold(painter, row, top)
            else:
                self._paint_row(painter, self.content.rows[row], top)
            if first + number == self._current:
                painter.setClipping(False)
                bar = QRectF(0, top, 3, self._height)
                painter.fillRect(bar, self._context.theme.color("accent"))
        painter.setClipping(False)
        painter.setPen(self._context.theme.color("border"))
        for column in range(1, len(self.content.texts)):
            edge = round(column * self._column_width())
            painter.drawLine(edge, 0, edge, self.viewport().height())

    def _paint_fold(self, painter: QPainter, fold: FoldedRows, top: float) -> None:
        box = QRectF(0, top, self.viewport().width(), self._height)
        painter.setClipping(False)
        painter.fillRect(box, self._context.theme.color("sunken"))
        painter.setPen(self._context.theme.color("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _folded_words(fold))

    def _paint_row(self, painter: QPainter, row: AlignedRow, top: float) -> None:
        theme, width, gutter = self._context.theme, self._column_width(), self._gutter()
        lines = [self._line(column, line) for column, line in enumerate(row.lines)]
        marks = [(0, 0)] * len(lines) if row.equal else changed_parts(lines, row.lines)
        offset = self.horizontalScrollBar().value()
        for column, line in enumerate(row.lines):
            box = QRectF(column * width, top, width, self._height)
            painter.setClipRect(box)
            if line < 0:
                painter.fillRect(box, theme.color("sunken"))
                continue
            if not row.equal:
                painter.fillRect(box, theme.color("warning-soft"))
            painter.setPen(theme.color("muted"))
            number = QRectF(box.left(), top, gutter - _GAP, self._height)
            painter.drawText(
                number, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{line + 1}"
            )
            painter.setClipRect(box.adjusted(gutter, 0, 0, 0))
            left = box.left() + gutter - offset
            begin, end = marks[column]
            if end > begin:
                mark = QRectF(left + begin * self._char, top, (end - begin) * self._char, self._height)
                painter.fillRect(mark, theme.color("find"))
            painter.setPen(theme.color("muted" if row.equal else "text"))
            skipped = max(0, int(offset / self._char))
            text = lines[column][skipped : skipped + int(width / self._char) + 2]
            painter.drawText(QPointF(left + skipped * self._char, top + self._ascent), text)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar, key = self.verticalScrollBar(), event.key()
        if key == Qt.Key.Key_Home:
            bar.setValue(0)
        elif key == Qt.Key.Key_End:
            bar.setValue(bar.maximum())
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            bar.setValue(bar.value() + bar.pageStep() * (1 if key == Qt.Key.Key_PageDown else -1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            bar.setValue(bar.value() + (1 if key == Qt.Key.Key_Down else -1))
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()


def _folded_words(fold: FoldedRows) -> str:
    return f"{units.count(fold.count, 'equal line')} not shown"


def changed_parts(texts: Sequence[str], lines: Sequence[int]) -> list[tuple[int, int]]:
    """Return where each text of a row differs from the others: first character and the one after the last.

    Nothing is marked where a text (with line -1) has no such line: then all of it is new.
    """
    if min(lines) < 0:
        return [(0, 0)] * len(texts)
    head = _common(texts)
    tail = _common([text[head:][::-1] for text in texts])
    return [(head, len(text) - tail) for text in texts]


def _common(texts: Sequence[str]) -> int:
    """Characters that all texts begin with, at most _MARKED."""
    least, greatest = min(texts), max(texts)  # what these two share, all do
    shortest = min(len(least), len(greatest), _MARKED)
    return next((at for at in range(shortest) if least[at] != greatest[at]), shortest)
