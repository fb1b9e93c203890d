"""Painting the rows of lists and tables: glyph, text, badge and share, without the style's machinery."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPixmap
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
_LEFT = (Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value | Qt.TextFlag.TextSingleLine.value
_RIGHT = (
    Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
).value | Qt.TextFlag.TextSingleLine.value
_SELECTED = QStyle.StateFlag.State_Selected.value
_UNDER_MOUSE, _FOCUS = QStyle.StateFlag.State_MouseOver.value, QStyle.StateFlag.State_HasFocus.value
"""Plain numbers: combining the enumerations themselves for every cell takes longer than painting it."""
_REMEMBERED = 8000


class CellDelegate(QStyledItemDelegate):
    """Paints every cell of a view by the roles above; all rows are equally high."""

    def __init__(self, theme: Theme, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._theme = theme
        self.gray = False
        """True while the data may be old."""
        self.hovered = -1
        """Row under the pointer, in views that tell it."""
        self._fitted: dict[tuple[str, str, int], str] = {}
        self._pictures: dict[tuple[StateShape, str, float], QPixmap] = {}
        theme.changed.connect(self._new_theme)
        self._new_theme()

    def _new_theme(self) -> None:
        self._pictures.clear()
        self._fitted.clear()
        mono = self._theme.font("mono")
        mono.setPixelSize(mono.pixelSize() - 1)
        faces = {"": self._theme.font(), "strong": self._theme.font("medium"), "mono": mono,
                 "small": self._theme.font("small")}  # fmt: skip
        self._faces = {name: (font, QFontMetrics(font)) for name, font in faces.items()}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """The height of the theme's rows; widths are the columns'."""
        return QSize(60, self._theme.height())

    def width_of(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Pixels that a cell needs for everything in it to be seen."""
        role_of = partial(index.model().data, index)
        metrics = self._faces[role_of(FONT) or ""][1]
        width = 2 * _PAD + metrics.horizontalAdvance(str(role_of(Qt.ItemDataRole.DisplayRole) or "")) + 2
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
        if state & _SELECTED:
            painter.fillRect(option.rect, self._theme.color("selection"))
        elif row == self.hovered or state & _UNDER_MOUSE:
            painter.fillRect(option.rect, self._theme.color("hover"))
        if state & _FOCUS:
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
        font, metrics = self._faces[told(FONT) or ""]
        badge = told(BADGE)
        if badge and box.width() < self._badge_width(badge) + _LEAST:
            badge = None
        room = box.width() - (self._badge_width(badge) + 8 if badge else 0)
        fitting = self._fitting(text, told(FONT) or "", max(0, room))
        painter.setFont(font)
        painter.setPen(self._theme.color("faint" if self.gray else told(TONE) or "text"))
        side = _RIGHT if told(Qt.ItemDataRole.TextAlignmentRole) else _LEFT
        painter.drawText(box.adjusted(0, 0, room - box.width(), 0), side, fitting)
        if badge:
            self._badge(painter, box.adjusted(metrics.horizontalAdvance(fitting) + 8, 0, 0, 0), badge)

    def _fitting(self, text: str, face: str, room: int) -> str:
        """The text as it fits, remembered: most texts of a table come again and again."""
        key = (text, face, room)
        found = self._fitted.get(key)
        if found is None:
            if len(self._fitted) > _REMEMBERED:
                self._fitted.clear()
            found = self._faces[face][1].elidedText(text, Qt.TextElideMode.ElideRight, room)
            self._fitted[key] = found
        return found

    def _badge_width(self, text: str) -> int:
        return self._faces["small"][1].horizontalAdvance(text) + 12

    def _badge(self, painter: QPainter, box: QRect, text: str) -> None:
        pill = QRectF(box.left(), box.center().y() - 8.5, self._badge_width(text), 18)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent-soft"))
        painter.drawRoundedRect(pill, 9, 9)
        font: QFont = self._faces["small"][0]
        painter.setFont(font)
        painter.setPen(self._theme.color("accent"))
        painter.drawText(pill, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.restore()
