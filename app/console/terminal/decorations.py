"""What is drawn over the glyphs: lines along text, pictures that have colours of their own, the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.console.emulator.cell_style import CellStyle
from app.console.emulator.frame import ScreenFrame, ScreenRow
from app.console.terminal.canvas import Canvas

_LINES = {
    1: Qt.PenStyle.SolidLine,
    2: Qt.PenStyle.SolidLine,
    3: Qt.PenStyle.DashDotLine,
    4: Qt.PenStyle.DotLine,
    5: Qt.PenStyle.DashLine,
}
_PICTURES = 0x1F000
"""From here on characters are pictures with colours of their own."""


def paint_lines(
    painter: QPainter, frame: ScreenFrame, rows: Iterable[int], cell: QSizeF, canvas: Canvas
) -> None:
    """Underlines, lines through and over text, and those below links."""
    ruled = np.array([cell_style.ruled for cell_style in frame.cell_styles.all])
    inks, _, _ = canvas.tables(frame)
    for place in rows:
        if place < len(frame.rows):
            for number, first, end in _stretches(frame.rows[place].cell_styles, ruled):
                box = QRectF(
                    first * cell.width(), place * cell.height(), (end - first) * cell.width(), cell.height()
                )
                _rule(painter, frame.cell_styles.all[number], box, QColor.fromRgb(int(inks[number])))


def paint_pictures(
    painter: QPainter, frame: ScreenFrame, rows: Iterable[int], cell: QSizeF, font: QFont
) -> None:
    """Emoji and the like, which a glyph of one colour would only hint at."""
    ascent = QFontMetricsF(font).ascent()
    for place in rows:
        if place < len(frame.rows):
            for column, _, text in frame.rows[place].clusters:
                if ord(text[0]) >= _PICTURES:
                    painter.setFont(font)
                    painter.drawText(QPointF(column * cell.width(), place * cell.height() + ascent), text)


def paint_cursor(
    painter: QPainter, frame: ScreenFrame, cell: QSizeF, canvas: Canvas, *, focused: bool
) -> None:
    """The cursor; hollow where the terminal does not have the focus."""
    cursor, color = frame.cursor, canvas.colors.cursor
    wide = next((size for column, size, _ in frame.rows[cursor.row].clusters if column == cursor.column), 1)
    box = QRectF(cursor.column * cell.width(), cursor.row * cell.height(), cell.width() * wide, cell.height())
    if not focused or cursor.shape == "hollow":
        painter.setPen(QPen(color, 1))
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
    elif cursor.shape == "bar":
        painter.fillRect(QRectF(box.left(), box.top(), 2, box.height()), color)
    elif cursor.shape == "underline":
        painter.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2), color)
    else:
        painter.fillRect(box, color)
        _under_cursor(painter, frame.rows[cursor.row], cursor.column, box, canvas)


def _under_cursor(painter: QPainter, row: ScreenRow, column: int, box: QRectF, canvas: Canvas) -> None:
    """The character below a block cursor, in the colour of the ground."""
    if column >= len(row.letters):
        return
    text = next((text for start, _, text in row.clusters if start == column), chr(row.letters[column]))
    painter.setFont(canvas.glyphs.font(0))
    painter.setPen(canvas.colors.bg)
    painter.drawText(QPointF(box.left(), box.top() + canvas.glyphs.ascent), text)


def _stretches(cell_styles: NDArray[np.uint16], ruled: NDArray[np.bool_]) -> Iterator[tuple[int, int, int]]:
    """Look, first column and the one behind the last, of cells side by side whose look has lines."""
    if not ruled[cell_styles].any():
        return
    starts = np.flatnonzero(np.concatenate(([True], cell_styles[1:] != cell_styles[:-1]))).tolist()
    for start, end in zip(starts, [*starts[1:], len(cell_styles)], strict=True):
        if ruled[cell_styles[start]]:
            yield int(cell_styles[start]), start, end


def _rule(painter: QPainter, cell_style: CellStyle, box: QRectF, ink: QColor) -> None:
    if cell_style.underline or cell_style.link:
        under = ink if cell_style.underline_color < 0 else QColor.fromRgb(cell_style.underline_color)
        painter.setPen(QPen(under, 1, _LINES.get(cell_style.underline, Qt.PenStyle.DotLine)))
        for above in (1.5, 3.5) if cell_style.underline == 2 else (1.5,):
            _line(painter, box, box.bottom() - above)
    painter.setPen(QPen(ink, 1))
    if cell_style.strikethrough:
        _line(painter, box, box.center().y())
    if cell_style.overline:
        _line(painter, box, box.top() + 0.5)


def _line(painter: QPainter, box: QRectF, height: float) -> None:
    painter.drawLine(QPointF(box.left(), height), QPointF(box.right() - 1, height))
