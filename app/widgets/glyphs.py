"""Painting the shapes of the states, sharp at every size and scale."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

from app.widgets.state_style import StateShape


def paint(painter: QPainter, box: QRectF, shape: StateShape, color: QColor) -> None:
    """Paint a glyph into the square `box` in logical pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(box.topLeft())
    painter.scale(box.width() / 16, box.height() / 16)
    painter.setPen(_pen(color))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    _DRAW[shape](painter, color)
    painter.restore()


def pixmap(shape: StateShape, color: QColor, size: int = 16, ratio: float = 1.0) -> QPixmap:
    """Return a glyph as a picture of `size` logical pixels."""
    made = QPixmap(round(size * ratio), round(size * ratio))
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    paint(painter, QRectF(0, 0, size, size), shape, color)
    painter.end()
    return made


def icon(shape: StateShape, color: QColor) -> QIcon:
    """Return a glyph as an icon that is sharp up to a scale of 3."""
    made = QIcon()
    for ratio in (1.0, 2.0, 3.0):
        made.addPixmap(pixmap(shape, color, 16, ratio))
    return made


def _pen(color: QColor, width: float = 1.8) -> QPen:
    return QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def _line(painter: QPainter, *points: tuple[float, float]) -> None:
    painter.drawPolyline([QPointF(x, y) for x, y in points])


def _hollow(painter: QPainter, color: QColor) -> None:
    painter.drawEllipse(QPointF(8, 8), 4.6, 4.6)


def _half(painter: QPainter, color: QColor) -> None:
    painter.drawEllipse(QPointF(8, 8), 4.6, 4.6)
    path = QPainterPath(QPointF(8, 3.4))
    path.arcTo(QRectF(3.4, 3.4, 9.2, 9.2), 90, 180)
    path.closeSubpath()
    painter.fillPath(path, color)


def _filled(painter: QPainter, color: QColor) -> None:
    painter.setBrush(color)
    painter.drawEllipse(QPointF(8, 8), 4.6, 4.6)


def _check(painter: QPainter, color: QColor) -> None:
    _line(painter, (3.2, 8.6), (6.6, 12), (12.8, 4.6))


def _double_check(painter: QPainter, color: QColor) -> None:
    _line(painter, (1.2, 8.8), (4.4, 12), (10.2, 4.8))
    _line(painter, (8.2, 11.4), (8.8, 12), (14.8, 4.8))


def _exclamation(painter: QPainter, color: QColor) -> None:
    painter.setPen(_pen(color, 2.2))
    _line(painter, (8, 3), (8, 8.6))
    painter.drawPoint(QPointF(8, 12.6))


def _cross(painter: QPainter, color: QColor) -> None:
    painter.setPen(_pen(color, 2.0))
    _line(painter, (4.2, 4.2), (11.8, 11.8))
    _line(painter, (11.8, 4.2), (4.2, 11.8))


def _bar(painter: QPainter, color: QColor) -> None:
    painter.setPen(_pen(color, 2.4))
    _line(painter, (3.6, 8), (12.4, 8))


def _pause(painter: QPainter, color: QColor) -> None:
    painter.setPen(_pen(color, 2.2))
    _line(painter, (5.8, 4), (5.8, 12))
    _line(painter, (10.2, 4), (10.2, 12))


def _question(painter: QPainter, color: QColor) -> None:
    dotted = _pen(color, 1.3)
    dotted.setStyle(Qt.PenStyle.DotLine)
    painter.setPen(dotted)
    painter.drawEllipse(QPointF(8, 8), 6.6, 6.6)
    painter.setPen(_pen(color, 1.5))
    path = QPainterPath(QPointF(6.2, 6.4))
    path.cubicTo(6.2, 3.8, 9.9, 3.9, 9.8, 6.3)
    path.cubicTo(9.7, 7.7, 8, 7.7, 8, 9.2)
    painter.drawPath(path)
    painter.drawPoint(QPointF(8, 11.3))


_DRAW: dict[StateShape, Callable[[QPainter, QColor], None]] = {
    StateShape.HOLLOW: _hollow,
    StateShape.HALF: _half,
    StateShape.FILLED: _filled,
    StateShape.CHECK: _check,
    StateShape.EXCLAMATION: _exclamation,
    StateShape.DOUBLE_CHECK: _double_check,
    StateShape.CROSS: _cross,
    StateShape.BAR: _bar,
    StateShape.QUESTION: _question,
    StateShape.PAUSE: _pause,
}
