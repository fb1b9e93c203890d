"""The life cycle of a job, drawn: every state, the way taken with its times, and what may come next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.inspector import job_times
from app.inspector.story.chart_layout import COMPACT, EDGES, MAIN_WAY, WIDE, Edge, Path, path_of
from app.widgets.state_glyph import draw_glyph, style_of_row
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import EventView

_WIDE_FROM = 760
_HEIGHT, _ACROSS, _DOWN, _EDGE = 40.0, 20.0, 22.0, 5.0
"""Of a box, of the gaps between boxes, and of the room for the halo at the edge; pixels."""
_PULSES, _PULSE_MS = 8, 60


class StateChart(QWidget):
    """Draws the life cycle for the events of one job; pulses only when new data have arrived."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.path = Path()
        self._row: dict[str, Any] = {}
        self._pulse = 0
        self._beat = QTimer(self, interval=_PULSE_MS)
        self._beat.timeout.connect(self._step_pulse)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(self.height_for(0))
        context.theme.changed.connect(self.update)
        self.show_events([], {})

    def show_events(self, events: list[EventView], row: dict[str, Any], live: bool = False) -> None:
        """Draw the way told by `events`; `live` when they have just happened."""
        self.path, self._row = path_of(events), row
        if live and self.path.current is JobState.RUNNING:
            self._pulse = _PULSES
            self._beat.start()
        self.setAccessibleName(self._in_words())
        self.update()

    def _step_pulse(self) -> None:
        self._pulse -= 1
        if self._pulse <= 0:
            self._beat.stop()
        self.update()

    def _in_words(self) -> str:
        if self.path.current is None:
            return "Life cycle: nothing known yet"
        way = ", then ".join(state for state in JobState if state in self.path.visits)
        after = " or ".join(self.path.next)
        return f"Life cycle: {way}. Now {self.path.current}" + (f"; next may be {after}" if after else "")

    # Geometry

    def _places(self) -> dict[JobState, tuple[float, float]]:
        return WIDE if self.width() >= _WIDE_FROM else COMPACT

    def node(self, state: JobState) -> QRectF:
        """Return the box of a state, in widget coordinates."""
        places = self._places()
        columns = max(column for column, _ in places.values()) + 1
        pitch = (self.width() - 2 * _EDGE + _ACROSS) / columns
        column, row = places[state]
        top = _EDGE + row * (_HEIGHT + _DOWN)
        return QRectF(_EDGE + column * pitch, top, pitch - _ACROSS, _HEIGHT)

    def height_for(self, width: int) -> int:
        """Return the height of the drawing: two rows of states where there is room, else three."""
        rows = 2 if width >= _WIDE_FROM else 3
        return int(rows * _HEIGHT + (rows - 1) * _DOWN + 2 * _EDGE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that the layout of this width needs."""
        super().resizeEvent(event)
        self.setFixedHeight(self.height_for(event.size().width()))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the steps first, the states over them."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for edge in sorted(self.drawn_edges(), key=lambda one: one in self.path.steps):
            self._draw_edge(painter, edge)
        for state in self.drawn_states():
            self._draw_node(painter, state)

    def drawn_states(self) -> list[JobState]:
        """Return the states of the main way, those that the job was in, and those it may still come to."""
        over = self.path.current is not None and not self.path.current.active
        main = {state for edge in MAIN_WAY for state in edge}
        return [one for one in JobState if not over or one in main or one in self.path.visits]

    def drawn_edges(self) -> set[Edge]:
        """Return the steps to draw: the main way, those taken, and those possible now."""
        possible = {(self.path.current, after) for after in self.path.next}
        return {edge for edge in EDGES if edge in MAIN_WAY or edge in self.path.steps or edge in possible}

    def _draw_edge(self, painter: QPainter, edge: Edge) -> None:
        taken = edge in self.path.steps
        possible = edge[0] is self.path.current
        token = "text" if taken else "muted" if possible else "border"
        pen = QPen(self._context.theme.color(token), 1.6 if taken else 1.0)
        if not taken and possible:
            pen.setDashPattern([3, 3])
        curve = self._curve(edge)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(curve)
        self._draw_head(painter, curve, self._context.theme.color(token))
        if taken and self.path.steps[edge] > 1:
            painter.setFont(self._context.theme.font("small"))
            painter.drawText(curve.pointAtPercent(0.5) + QPointF(3, -3), f"×{self.path.steps[edge]}")

    def _draw_head(self, painter: QPainter, curve: QPainterPath, color: Any) -> None:
        tip = curve.pointAtPercent(1.0)
        before = curve.pointAtPercent(curve.percentAtLength(max(0.0, curve.length() - 5)))
        angle = math.atan2(tip.y() - before.y(), tip.x() - before.x())
        wings = [
            tip - QPointF(6 * math.cos(angle + turn), 6 * math.sin(angle + turn)) for turn in (0.45, -0.45)
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF([tip, *wings]))

    def _curve(self, edge: Edge) -> QPainterPath:
        """Return the way of a step: straight to a neighbour, with elbows between the rows to others."""
        places = self._places()
        (column, row), (to_column, to_row) = places[edge[0]], places[edge[1]]
        start, end = self.node(edge[0]), self.node(edge[1])
        if abs(column - to_column) <= 1 and abs(row - to_row) <= 1:
            return _straight(start, end)
        if column == to_column:
            return self._round_the_side(start, end)
        return self._between_rows(start, end, row == to_row)

    def _between_rows(self, start: QRectF, end: QRectF, same_row: bool) -> QPainterPath:
        level = start.bottom() + _DOWN * (0.3 if same_row else 0.6)
        if end.center().y() < start.center().y():
            level = end.bottom() + _DOWN * 0.4
        upwards = same_row or end.center().y() < start.center().y()
        leave = QPointF(start.center().x() + 8, start.bottom() + 2)
        if level < start.top():
            leave.setY(start.top() - 2)
        arrive = QPointF(end.center().x() + 8, end.bottom() + 2 if upwards else end.top() - 2)
        return _elbows(leave, QPointF(leave.x(), level), QPointF(arrive.x(), level), arrive)

    def _round_the_side(self, start: QRectF, end: QRectF) -> QPainterPath:
        side = start.right() + _ACROSS * 0.4
        if side > self.width() - 1:
            side = start.left() - _ACROSS * 0.4
        begin = start.right() + 2 if side > start.right() else start.left() - 2
        finish = end.right() + 2 if side > start.right() else end.left() - 2
        leave, arrive = QPointF(begin, start.center().y() + 6), QPointF(finish, end.center().y())
        return _elbows(leave, QPointF(side, leave.y()), QPointF(side, arrive.y()), arrive)

    def _draw_node(self, painter: QPainter, state: JobState) -> None:
        theme, box = self._context.theme, self.node(state)
        visited, current = state in self.path.visits, state is self.path.current
        possible = state in self.path.next
        token = style_of_row(self._face_row(state)).token
        color = theme.color(token)
        if current and self._pulse:
            halo = QColor(color)
            halo.setAlpha(20 + 12 * self._pulse)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(halo)
            painter.drawRoundedRect(box.adjusted(-4, -4, 4, 4), 9, 9)
        pen = QPen(color if visited else theme.color("muted" if possible else "border"), 2 if current else 1)
        if possible and not visited:
            pen.setDashPattern([3, 3])
        painter.setPen(pen)
        painter.setBrush(theme.color(f"{token}-soft") if visited else theme.color("surface"))
        painter.drawRoundedRect(box, 6, 6)
        self._draw_label(painter, box, state, visited, possible)

    def _draw_label(
        self, painter: QPainter, box: QRectF, state: JobState, visited: bool, possible: bool
    ) -> None:
        theme = self._context.theme
        row = self._face_row(state)
        edge, gap = (8, 6) if self._longest("small") <= box.width() - 34 else (4, 2)
        indent = edge + 14 + gap
        name = box.adjusted(indent, 4, -1, -16) if visited else box.adjusted(indent, 0, -1, 0)
        draw_glyph(
            painter, QRectF(box.left() + edge, name.center().y() - 7, 14, 14), row, theme, faint=not visited
        )
        painter.setFont(self._name_font(box.width() - 34, state is self.path.current))
        painter.setPen(theme.color("text" if visited else "muted" if possible else "faint"))
        painter.drawText(name, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, state.value)
        if visited:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("muted"))
            time = box.adjusted(indent, 20, -1, -3)
            painter.drawText(time, Qt.AlignmentFlag.AlignLeft, job_times.clock(self.path.visits[state][-1]))

    def _name_font(self, room: float, current: bool) -> QFont:
        """Return one size for all names, so that none stands out but the current."""
        font = QFont(self._context.theme.font("base" if self._longest("strong") <= room else "small"))
        font.setWeight(QFont.Weight.DemiBold if current else QFont.Weight.Normal)
        return font

    def _longest(self, font: str) -> float:
        """Pixels of the longest name of a state."""
        measured = QFontMetricsF(self._context.theme.font(font))
        return max(measured.horizontalAdvance(state.value) for state in JobState)

    def _face_row(self, state: JobState) -> dict[str, Any]:
        return self._row if self._row and state is self.path.current else {"state": state.value}

    def event(self, event: QEvent) -> bool:
        """Tell the exact times of the state under the mouse."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            for state in self.drawn_states():
                if self.node(state).contains(QPointF(event.pos())):
                    QToolTip.showText(event.globalPos(), self._about(state), self)
                    return True
            QToolTip.hideText()
        return super().event(event)

    def _about(self, state: JobState) -> str:
        times = self.path.visits.get(state, [])
        if times:
            return f"{state}: " + ", ".join(job_times.exact(moment) for moment in times)
        return f"{state}: may come next" if state in self.path.next else f"{state}: not reached"


def _straight(start: QRectF, end: QRectF) -> QPainterPath:
    path = QPainterPath(_border(start, end.center()))
    path.lineTo(_border(end, start.center()))
    return path


def _elbows(*points: QPointF) -> QPainterPath:
    path = QPainterPath(points[0])
    for point in points[1:]:
        path.lineTo(point)
    return path


def _border(box: QRectF, towards: QPointF) -> QPointF:
    """Return where the line from the middle of a box to a point leaves the box, 2 px off it."""
    middle = box.center()
    way = towards - middle
    shares = [
        half / abs(part)
        for half, part in ((box.width() / 2 + 2, way.x()), (box.height() / 2 + 2, way.y()))
        if part
    ]
    return middle + way * min(shares, default=0.0)
