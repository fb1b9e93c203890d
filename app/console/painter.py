"""Painting rows of a frame: backgrounds, text, lines, selection, marks and the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.console.frame import Cursor, Frame, Look, Row, Run

_LINES = {
    1: Qt.PenStyle.SolidLine,
    2: Qt.PenStyle.SolidLine,
    3: Qt.PenStyle.DashDotLine,
    4: Qt.PenStyle.DotLine,
    5: Qt.PenStyle.DashLine,
}


class Colours:
    """The terminal's own colours, and those of the desk's marks upon it."""

    def __init__(self, fg: QColor, bg: QColor, cursor: QColor, selection: QColor, mark: QColor) -> None:
        self.fg, self.bg, self.cursor, self.selection, self.mark = fg, bg, cursor, selection, mark


class CellPainter:
    """Knows the size of a cell and how looks are painted in it."""

    def __init__(self, font: QFont, colours: Colours) -> None:
        self.colours = colours
        self._fonts = {(bold, italic): _font(font, bold, italic) for bold in (0, 1) for italic in (0, 1)}
        metrics = QFontMetricsF(font)
        self.width = max(1, round(metrics.horizontalAdvance("0")))
        self.height = max(1, round(metrics.height()))
        self._ascent = round(metrics.ascent())
        self._stretch = metrics.horizontalAdvance("0") != self.width
        self._cache: dict[int, QColor] = {}

    def paint(
        self, painter: QPainter, frame: Frame, rows: Iterable[int], marks: dict[int, list[tuple[int, int]]]
    ) -> None:
        """Paint some rows; `marks`: row to first and last columns of what a search found there."""
        for place in rows:
            if place < len(frame.rows):
                self._row(painter, frame.rows[place], place * self.height, marks.get(place, ()))

    def cursor(self, painter: QPainter, frame: Frame, cursor: Cursor, *, focused: bool) -> None:
        """Paint the cursor over what is there."""
        if cursor.row < 0 or cursor.row >= len(frame.rows):
            return
        run = _run_at(frame.rows[cursor.row], cursor.column)
        box = QRectF(cursor.column * self.width, cursor.row * self.height, self.width, self.height)
        if run is not None and not run.simple:
            box.setWidth(run.columns * self.width)
        if not focused or cursor.shape == "hollow":
            painter.setPen(QPen(self.colours.cursor, 1))
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        elif cursor.shape == "bar":
            painter.fillRect(QRectF(box.left(), box.top(), 2, box.height()), self.colours.cursor)
        elif cursor.shape == "underline":
            painter.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2), self.colours.cursor)
        else:
            painter.fillRect(box, self.colours.cursor)
            self._letter(painter, run, cursor, box)

    def _letter(self, painter: QPainter, run: Run | None, cursor: Cursor, box: QRectF) -> None:
        """The character below a block cursor, in the colour of the ground."""
        if run is None:
            return
        text = run.text[cursor.column - run.column] if run.simple else run.text
        painter.setFont(self._fonts[int(run.look.bold), int(run.look.italic)])
        painter.setPen(self.colours.bg)
        painter.drawText(QPointF(box.left(), box.top() + self._ascent), text)

    def _row(self, painter: QPainter, row: Row, top: int, marks: Iterable[tuple[int, int]]) -> None:
        for run in row.runs:
            fill = self._ground(run.look)
            if fill is not None:
                painter.fillRect(
                    QRectF(run.column * self.width, top, run.columns * self.width, self.height), fill
                )
        for first, last in marks:
            self._fill(painter, first, last, top, self.colours.mark)
        if row.selected is not None:
            self._fill(painter, *row.selected, top, self.colours.selection)
        for run in row.runs:
            self._run(painter, run, top)

    def _fill(self, painter: QPainter, first: int, last: int, top: int, colour: QColor) -> None:
        painter.fillRect(
            QRectF(first * self.width, top, (last - first + 1) * self.width, self.height), colour
        )

    def _run(self, painter: QPainter, run: Run, top: int) -> None:
        look = run.look
        if look.invisible:
            return
        ink = self._ink(look)
        if not run.text.isspace():
            painter.setFont(self._fonts[int(look.bold), int(look.italic)])
            painter.setPen(ink)
            if self._stretch and run.simple:
                for place, one in enumerate(run.text):
                    painter.drawText(QPointF((run.column + place) * self.width, top + self._ascent), one)
            else:
                painter.drawText(QPointF(run.column * self.width, top + self._ascent), run.text)
        if look.underline or look.strikethrough or look.overline or look.link:
            self._rules(painter, run, top, ink)

    def _rules(self, painter: QPainter, run: Run, top: int, ink: QColor) -> None:
        left, right = run.column * self.width, (run.column + run.columns) * self.width
        look = run.look
        under = ink if look.underline_colour < 0 else self._colour(look.underline_colour)
        if look.underline or look.link:
            style = _LINES.get(look.underline, Qt.PenStyle.DotLine)
            heights = (2, 4) if look.underline == 2 else (2,)
            painter.setPen(QPen(under, 1, style))
            for above in heights:
                painter.drawLine(left, top + self.height - above, right - 1, top + self.height - above)
        painter.setPen(QPen(ink, 1))
        if look.strikethrough:
            painter.drawLine(left, top + self.height // 2, right - 1, top + self.height // 2)
        if look.overline:
            painter.drawLine(left, top, right - 1, top)

    def _ground(self, look: Look) -> QColor | None:
        if look.inverse:
            return self.colours.fg if look.fg < 0 else self._colour(look.fg)
        return None if look.bg < 0 else self._colour(look.bg)

    def _ink(self, look: Look) -> QColor:
        if look.inverse:
            ink = self.colours.bg if look.bg < 0 else self._colour(look.bg)
        else:
            ink = self.colours.fg if look.fg < 0 else self._colour(look.fg)
        if look.faint:
            ink = QColor(ink)
            ink.setAlpha(150)
        return ink

    def _colour(self, number: int) -> QColor:
        found = self._cache.get(number)
        if found is None:
            found = self._cache[number] = QColor(number >> 16, number >> 8 & 255, number & 255)
        return found


def _font(font: QFont, bold: int, italic: int) -> QFont:
    made = QFont(font)
    made.setBold(bool(bold))
    made.setItalic(bool(italic))
    # Ligatures and kerning would move characters out of their cells.
    made.setKerning(False)
    made.setStyleStrategy(QFont.StyleStrategy.PreferAntialias)
    return made


def _run_at(row: Row, column: int) -> Run | None:
    return next((run for run in row.runs if run.column <= column < run.column + run.columns), None)
