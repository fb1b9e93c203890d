"""Painting the jobs table: only look-ups, no style machinery, a few microseconds for a cell."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.jobs import folding
from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.table import JobsTable
from app.theme.theme import Theme
from app.widgets import glyphs
from app.widgets.cells import FOCUSED, SELECTED, CellTexts
from app.widgets.state_style import StateShape, StateStyle

_PAD, _GLYPH, _INDENT = 8, 16, 20
_STATE, _NAME = BY_NAME["state"], BY_NAME["name"]
_MONO = BY_NAME["id"]


class JobsDelegate(QStyledItemDelegate):
    """Paints states as glyph and word, batches with an arrow, a count and a bar of their jobs' states."""

    def __init__(self, theme: Theme, table: JobsTable) -> None:
        super().__init__(table)
        self._theme, self._table = theme, table
        self.hovered = -1
        """Line under the pointer."""
        self.gray = False
        """True while the data may be old."""
        self.pulse = 1.0
        """Opacity of the glyph of running jobs."""
        self._glyphs: dict[tuple[StateShape, str, float], QPixmap] = {}
        theme.changed.connect(self._new_theme)
        self._new_theme()

    def _new_theme(self) -> None:
        self._glyphs.clear()
        mono = self._theme.font("mono")
        mono.setPixelSize(mono.pixelSize() - 1)
        self._texts, self._mono = CellTexts(self._theme.font()), CellTexts(mono)
        self._strong = CellTexts(self._theme.font("medium"))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are equally high; widths are the columns'."""
        return QSize(80, 28)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one cell."""
        line, column = index.row(), index.column()
        if line >= len(self._table.view.lines):
            return
        box = option.rect
        state = option.state.value
        if state & SELECTED:
            painter.fillRect(box, self._theme.color("selection"))
        elif line == self.hovered:
            painter.fillRect(box, self._theme.color("hover"))
        inner = box.adjusted(_PAD, 0, -_PAD, 0)
        if column == _STATE:
            self._paint_state(painter, inner, line)
        elif column == _NAME:
            self._paint_name(painter, inner, line)
        else:
            self._paint_text(painter, inner, line, column)
        if state & FOCUSED and column == _STATE:
            painter.fillRect(QRect(box.left(), box.top(), 3, box.height()), self._theme.color("focus"))

    def _paint_state(self, painter: QPainter, box: QRect, line: int) -> None:
        style = self._table.style_of(line)
        self._glyph(painter, box, style)
        inner = box.adjusted(_GLYPH + 6, 0, 0, 0)
        batch = self._table.batch_at(line)
        if batch:
            self._paint_tally(painter, inner, line)
        else:
            whole = f"{style.word} {style.more}" if style.more else style.word
            fits = not style.more or self._strong.width(whole) <= inner.width()
            said = whole if fits else style.word
            self._strong.paint(painter, inner, said, self._color(style.token))

    def _glyph(self, painter: QPainter, box: QRect, style: StateStyle) -> None:
        ratio = painter.device().devicePixelRatioF()
        token = "faint" if self.gray else style.token
        key = (style.shape, token, ratio)
        found = self._glyphs.get(key)
        if found is None:
            found = glyphs.pixmap(style.shape, self._theme.color(token), _GLYPH, ratio)
            self._glyphs[key] = found
        painter.setOpacity(self.pulse if style.shape is StateShape.FILLED else 1.0)
        painter.drawPixmap(box.left(), box.top() + (box.height() - _GLYPH) // 2, found)
        painter.setOpacity(1.0)

    def _paint_tally(self, painter: QPainter, box: QRect, line: int) -> None:
        """As much of how a batch stands as there is room for, over a bar of its states in their colors."""
        batch = self._table.batch_at(line)
        if batch is None:
            return
        tally = self._table.tally(batch)
        room = box.width()
        text = self._fitting_parts(folding.summary(tally), room, self._strong) or folding.brief(tally)
        self._strong.paint(painter, box.adjusted(0, 0, 0, -3), text, self._color("text"))
        left, width, total = float(box.left()), float(box.width()), tally.total()
        for token, number in folding.parts(tally):
            share = width * number / total
            painter.fillRect(QRectF(left, box.bottom() - 3.5, max(1.0, share - 1), 3), self._color(token))
            left += share

    def _fitting_parts(self, text: str, room: int, texts: CellTexts) -> str:
        """The parts of a sentence that fit, from its beginning; nothing if the first one does not."""
        while text and texts.width(text) > room:
            text = text.rpartition(folding.BETWEEN)[0]
        return text

    def _paint_name(self, painter: QPainter, box: QRect, line: int) -> None:
        batch = self._table.batch_at(line)
        inside = batch is None and self._table.inside(line)
        if batch:
            icon = self._theme.icon("chevron-down" if batch.open else "chevron-right", "muted")
            icon.paint(painter, QRect(box.left() - 4, box.top() + (box.height() - 16) // 2, 16, 16))
            box = box.adjusted(_INDENT - 4, 0, 0, 0)
        elif inside:
            box = box.adjusted(_INDENT * 2 - 4, 0, 0, 0)
        text = self._table.text(line, _NAME)
        texts = self._strong if batch else self._texts
        texts.paint(painter, box, text, self._color("text"))
        if batch:
            box = box.adjusted(texts.width(text) + _GLYPH, 0, 0, 0)
            progress = self._fitting_parts(self._table.progress(line), box.width(), self._texts)
            self._texts.paint(painter, box, progress, self._color("muted"))

    def _paint_text(self, painter: QPainter, box: QRect, line: int, column: int) -> None:
        text = self._table.text(line, column)
        if text:
            texts = self._mono if column == _MONO else self._texts
            texts.paint(painter, box, text, self._color("muted"), COLUMNS[column].right)

    def _color(self, token: str) -> QColor:
        return self._theme.color("faint" if self.gray else token)

    def width_of(self, line: int, column: int) -> int:
        """Pixels that a cell needs for everything in it to be seen; a bar of states asks for none."""
        batch = self._table.batch_at(line)
        if column == _STATE:
            style = self._table.style_of(line)
            tally = folding.summary(self._table.tally(batch)) if batch else ""
            words = tally.partition(folding.BETWEEN)[0] if batch else f"{style.word} {style.more}".rstrip()
            return 2 * _PAD + _GLYPH + 6 + self._strong.width(words) + 2
        texts = self._mono if column == _MONO else self._texts
        before = 0
        if column == _NAME and (batch or self._table.inside(line)):
            texts = self._strong if batch else texts
            before = _INDENT - 4 if batch else _INDENT * 2 - 4
        text = self._table.text(line, column)
        return 2 * _PAD + before + texts.width(text) + 2

    def name_arrow(self, cell: QRect, x: int) -> bool:
        """True if `x` is on the fold arrow of a name cell."""
        return cell.left() <= x <= cell.left() + _PAD + _INDENT
