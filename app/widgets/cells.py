"""Painting the rows of lists and tables: glyph, text, badge and share, without the style's machinery."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPixmap, QStaticText
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.theme.theme import Theme
from app.widgets import glyphs
from app.widgets.state_style import StateShape

GLYPH, TONE, BADGE, SHARE, FONT = (Qt.ItemDataRole.UserRole + 10 + place for place in range(5))
"""Roles that a model may answer: (Shape, token) before the text; token of the text; a word in a pill behind
it; a bar below it, 0 to 1, with its token; strong or mono for the text. Any alignment stands for right."""

_PAD, _EDGE = 8, 16
_LEAST = 72
"""Pixels of text without which a badge is left out."""
SELECTED, FOCUSED = QStyle.StateFlag.State_Selected.value, QStyle.StateFlag.State_HasFocus.value
_UNDER_MOUSE = QStyle.StateFlag.State_MouseOver.value
"""Plain numbers: combining the enumerations themselves for every cell takes longer than painting it."""
_REMEMBERED = 2000
_LaidOut = tuple[QStaticText, float, float]
"""A text with its width and height."""


class CellTexts:
    """Paints single lines of text in one font, cut where they do not fit.

    Each is cut and laid out once and remembered: most texts of a table come again and again, and to lay one
    out takes longer than all the rest of its cell.
    """

    def __init__(self, font: QFont) -> None:
        self.font, self.metrics = font, QFontMetrics(font)
        self._laid_out: dict[tuple[str, int], _LaidOut] = {}
        self._older: dict[tuple[str, int], _LaidOut] = {}
        """Those of before: what is still in sight is not laid out again all at once."""

    def width(self, text: str) -> int:
        """Pixels that a text needs."""
        return self.metrics.horizontalAdvance(text)

    def fitting(self, text: str, room: int) -> str:
        """As much of a text as fits into so many pixels."""
        return self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)

    def paint(self, painter: QPainter, box: QRect, text: str, color: QColor, right: bool = False) -> None:
        """Paint a text in the middle of the height of a box, at its left or right."""
        room = box.width()
        laid_out, width, height = self._laid_out.get((text, room)) or self._lay_out(text, room)
        painter.setFont(self.font)
        painter.setPen(color)
        left = box.left() + (room - width if right else 0)
        painter.drawStaticText(QPointF(left, box.top() + (box.height() - height) / 2), laid_out)

    def _lay_out(self, text: str, room: int) -> _LaidOut:
        if len(self._laid_out) >= _REMEMBERED:
            self._older, self._laid_out = self._laid_out, {}
        found = self._older.get((text, room)) or self._made(text, room)
        self._laid_out[text, room] = found
        return found

    def _made(self, text: str, room: int) -> _LaidOut:
        made = QStaticText(self.fitting(text.replace("\n", " "), room))
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.prepare(font=self.font)
        size = made.size()
        return made, size.width(), size.height()


class CellDelegate(QStyledItemDelegate):
    """Paints every cell of a view by the roles above; all rows are equally high."""

    def __init__(self, theme: Theme, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._theme = theme
        self.gray = False
        """True while the data may be old."""
        self.hovered = -1
        """Row under the pointer, in views that tell it."""
        self._pictures: dict[tuple[StateShape, str, float], QPixmap] = {}
        theme.changed.connect(self._new_theme)
        self._new_theme()

    def _new_theme(self) -> None:
        self._pictures.clear()
        mono = self._theme.font("mono")
        mono.setPixelSize(mono.pixelSize() - 1)
        faces = {"": self._theme.font(), "strong": self._theme.font("medium"), "mono": mono,
                 "small": self._theme.font("small")}  # fmt: skip
        self._texts = {name: CellTexts(font) for name, font in faces.items()}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """The height of the theme's rows; widths are the columns'."""
        return QSize(60, self._theme.height())

    def width_of(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Pixels that a cell needs for everything in it to be seen."""
        role_of = partial(index.model().data, index)
        texts = self._texts[role_of(FONT) or ""]
        width = 2 * _PAD + texts.width(str(role_of(Qt.ItemDataRole.DisplayRole) or "")) + 2
        width += _EDGE + 6 if role_of(GLYPH) is not None else 0
        badge = role_of(BADGE)
        return width + (self._badge_width(badge) + 8 if badge else 0)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one cell. The model is asked directly: through the index each answer costs twice as much."""
        told = partial(index.model().data, index)
        self._ground(painter, option, index.row())
        box = option.rect.adjusted(_PAD, 0, -_PAD, 0)
        share = told(SHARE)
        if share is not None:
            self._share(painter, box, *share)
        glyph = told(GLYPH)
        if glyph is not None:
            self._glyph(painter, box, *glyph)
            box = box.adjusted(_EDGE + 6, 0, 0, 0)
        text = told(Qt.ItemDataRole.DisplayRole)
        if text:
            self._text(painter, box, text, told)

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, row: int) -> None:
        state = option.state.value
        if state & SELECTED:
            painter.fillRect(option.rect, self._theme.color("selection"))
        elif row == self.hovered or state & _UNDER_MOUSE:
            painter.fillRect(option.rect, self._theme.color("hover"))
        if state & FOCUSED:
            edge = QRect(option.rect.left(), option.rect.top(), 3, option.rect.height())
            painter.fillRect(edge, self._theme.color("focus"))

    def _glyph(self, painter: QPainter, box: QRect, shape: StateShape, token: str) -> None:
        ratio = painter.device().devicePixelRatioF()
        key = (shape, "faint" if self.gray else token, ratio)
        found = self._pictures.get(key)
        if found is None:
            found = self._pictures[key] = glyphs.pixmap(shape, self._theme.color(key[1]), _EDGE, ratio)
        painter.drawPixmap(box.left(), box.top() + (box.height() - _EDGE) // 2, found)

    def _share(self, painter: QPainter, box: QRect, part: float, token: str) -> None:
        """A thin bar at the foot of the cell; the number stands in the text."""
        line = QRectF(box.left(), box.bottom() - 3.5, box.width(), 2)
        painter.fillRect(line, self._theme.color("border"))
        line.setWidth(line.width() * min(1.0, max(0.0, part)))
        painter.fillRect(line, self._theme.color("faint" if self.gray else token))

    def _text(self, painter: QPainter, box: QRect, text: str, told: Callable[[int], Any]) -> None:
        texts = self._texts[told(FONT) or ""]
        badge = told(BADGE)
        if badge and box.width() < self._badge_width(badge) + _LEAST:
            badge = None
        room = max(0, box.width() - (self._badge_width(badge) + 8 if badge else 0))
        color = self._theme.color("faint" if self.gray else told(TONE) or "text")
        right = bool(told(Qt.ItemDataRole.TextAlignmentRole))
        texts.paint(painter, QRect(box.left(), box.top(), room, box.height()), text, color, right)
        if badge:
            behind = texts.width(texts.fitting(text, room)) + 8
            self._badge(painter, box.adjusted(behind, 0, 0, 0), badge)

    def _badge_width(self, text: str) -> int:
        return self._texts["small"].width(text) + 12

    def _badge(self, painter: QPainter, box: QRect, text: str) -> None:
        pill = QRectF(box.left(), box.center().y() - 8.5, self._badge_width(text), 18)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent-soft"))
        painter.drawRoundedRect(pill, 9, 9)
        painter.setFont(self._texts["small"].font)
        painter.setPen(self._theme.color("accent"))
        painter.drawText(pill, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.restore()
