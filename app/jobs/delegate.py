"""Painting the jobs table: only look-ups, no style machinery, a few microseconds for a cell."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.jobs import folding
from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.table import JobsTable
from app.theme.theme import Theme
from app.widgets import glyphs
from app.widgets.state_style import StateShape, StateStyle

_PAD, _GLYPH, _INDENT = 8, 16, 20
_STATE, _NAME = BY_NAME["state"], BY_NAME["name"]
_MONO = BY_NAME["id"]
_FLAGS = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


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
        self._font, self._mono = self._theme.font(), self._theme.font("mono")
        self._mono.setPixelSize(self._mono.pixelSize() - 1)
        self._strong = self._theme.font("medium")
        self._metrics = {id(font): QFontMetrics(font) for font in (self._font, self._mono, self._strong)}

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
        state = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected:
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
        if state & QStyle.StateFlag.State_HasFocus and column == _STATE:
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
            fits = self._metrics[id(self._strong)].horizontalAdvance(whole) <= inner.width()
            said = whole if fits else style.word
            self._text(painter, inner, said, self._color(style.token), self._strong)

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
        self._text(painter, box.adjusted(0, 0, 0, -3), text, self._color("text"), self._strong)
        left, width, total = float(box.left()), float(box.width()), tally.total()
        for token, number in folding.parts(tally):
            share = width * number / total
            painter.fillRect(QRectF(left, box.bottom() - 3.5, max(1.0, share - 1), 3), self._color(token))
            left += share

    def _fitting_parts(self, text: str, room: int, font: QFont) -> str:
        """The parts of a sentence that fit, from its beginning; nothing if the first one does not."""
        while text and self._metrics[id(font)].horizontalAdvance(text) > room:
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
        font = self._strong if batch else self._font
        self._text(painter, box, text, self._color("text"), font)
        if batch:
            box = box.adjusted(self._metrics[id(font)].horizontalAdvance(text) + _GLYPH, 0, 0, 0)
            progress = self._fitting_parts(self._table.progress(line), box.width(), self._font)
            self._text(painter, box, progress, self._color("muted"), self._font)

    def _paint_text(self, painter: QPainter, box: QRect, line: int, column: int) -> None:
        text = self._table.text(line, column)
        if text:
            font = self._mono if column == _MONO else self._font
            self._text(painter, box, text, self._color("muted"), font, COLUMNS[column].right)

    def _color(self, token: str) -> QColor:
        return self._theme.color("faint" if self.gray else token)

    def _text(
        self, painter: QPainter, box: QRect, text: str, color: QColor, font: QFont, right: bool = False
    ) -> None:
        painter.setFont(font)
        painter.setPen(color)
        fitting = self._metrics[id(font)].elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        painter.drawText(box, int(_FLAGS | side), fitting)

    def width_of(self, line: int, column: int) -> int:
        """Pixels that a cell needs for everything in it to be seen; a bar of states asks for none."""
        batch = self._table.batch_at(line)
        if column == _STATE:
            style = self._table.style_of(line)
            tally = folding.summary(self._table.tally(batch)) if batch else ""
            words = tally.partition(folding.BETWEEN)[0] if batch else f"{style.word} {style.more}".rstrip()
            return 2 * _PAD + _GLYPH + 6 + self._metrics[id(self._strong)].horizontalAdvance(words) + 2
        font = self._mono if column == _MONO else self._font
        before = 0
        if column == _NAME and (batch or self._table.inside(line)):
            font = self._strong if batch else font
            before = _INDENT - 4 if batch else _INDENT * 2 - 4
        text = self._table.text(line, column)
        return 2 * _PAD + before + self._metrics[id(font)].horizontalAdvance(text) + 2

    def name_arrow(self, cell: QRect, x: int) -> bool:
        """True if `x` is on the fold arrow of a name cell."""
        return cell.left() <= x <= cell.left() + _PAD + _INDENT
