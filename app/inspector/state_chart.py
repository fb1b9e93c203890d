"""The life cycle of a job, drawn: every state, the way taken with its times, and what may come next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.inspector import words
from app.inspector.chart_layout import COMPACT, EDGES, MAIN_WAY, WIDE, Edge, Path, path_of
from app.inspector.glyph import draw_glyph
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import Desk
    from broker_core.wire.views import EventView

_WIDE_FROM = 760
_NODE_HEIGHT, _ROW_HEIGHT, _MARGIN = 36.0, 62.0, 12.0
_PULSES, _PULSE_MS = 8, 60


class StateChart(QWidget):
    """Draws the life cycle for the events of one job; pulses only when new data have arrived."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.path = Path()
        self._row: dict[str, Any] = {}
        self._pulse = 0
        self._beat = QTimer(self, interval=_PULSE_MS)
        self._beat.timeout.connect(self._step_pulse)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        desk.theme.changed.connect(self.update)
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
        pitch = (self.width() - 2 * _MARGIN) / columns
        column, row = places[state]
        gap = 22.0 if pitch > 90 else 14.0
        return QRectF(_MARGIN + column * pitch + gap / 2, 6 + row * _ROW_HEIGHT, pitch - gap, _NODE_HEIGHT)

    def hasHeightForWidth(self) -> bool:
        """The height depends on the layout that the width allows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Two rows where there is room, else three."""
        return int(_ROW_HEIGHT * (2 if width >= _WIDE_FROM else 3) + 4)

    def sizeHint(self) -> QSize:
        """A pane's usual width."""
        return QSize(360, self.heightForWidth(max(360, self.width())))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the steps first, the states over them."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for edge in sorted(self.drawn_edges(), key=lambda one: one in self.path.steps):
            self._draw_edge(painter, edge)
        for state in JobState:
            self._draw_node(painter, state)

    def drawn_edges(self) -> set[Edge]:
        """Return the steps to draw: the main way, those taken, and those possible now."""
        possible = {(self.path.current, after) for after in self.path.next}
        return {edge for edge in EDGES if edge in MAIN_WAY or edge in self.path.steps or edge in possible}

    def _draw_edge(self, painter: QPainter, edge: Edge) -> None:
        taken = edge in self.path.steps
        possible = edge[0] is self.path.current
        token = "text" if taken else "muted" if possible else "border"
        pen = QPen(self._desk.theme.color(token), 1.6 if taken else 1.0)
        if not taken and possible:
            pen.setDashPattern([3, 3])
        curve = self._curve(edge)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(curve)
        self._draw_head(painter, curve, self._desk.theme.color(token))
        if taken and self.path.steps[edge] > 1:
            painter.setFont(self._desk.theme.font("small"))
            painter.drawText(curve.pointAtPercent(0.5) + QPointF(3, -3), f"×{self.path.steps[edge]}")

    def _draw_head(self, painter: QPainter, curve: QPainterPath, colour: Any) -> None:
        tip, before = curve.pointAtPercent(1.0), curve.pointAtPercent(0.97 if curve.length() > 60 else 0.8)
        angle = math.atan2(tip.y() - before.y(), tip.x() - before.x())
        wings = [
            tip - QPointF(6 * math.cos(angle + turn), 6 * math.sin(angle + turn)) for turn in (0.45, -0.45)
        ]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([tip, *wings]))

    def _curve(self, edge: Edge) -> QPainterPath:
        """Return a line that bends round the states between its ends."""
        start, end = self.node(edge[0]), self.node(edge[1])
        others = [self.node(state) for state in JobState if state not in edge]
        straight = end.center() - start.center()
        length = math.hypot(straight.x(), straight.y()) or 1.0
        across = QPointF(-straight.y() / length, straight.x() / length)
        best: QPainterPath | None = None
        for bend in (0, 40, -40, 80, -80, 130, -130, 180, -180):
            middle = (start.center() + end.center()) / 2 + across * bend
            curve = QPainterPath(_border(start, middle if bend else end.center()))
            curve.quadTo(middle, _border(end, middle if bend else start.center()))
            best = best or curve
            if not any(box.contains(curve.pointAtPercent(step / 12)) for box in others for step in range(13)):
                return curve
        return best or QPainterPath()

    def _draw_node(self, painter: QPainter, state: JobState) -> None:
        theme, box = self._desk.theme, self.node(state)
        visited, current = state in self.path.visits, state is self.path.current
        possible = state in self.path.next
        colour = theme.color(f"state-{state}")
        if current and self._pulse:
            halo = theme.color(f"state-{state}")
            halo.setAlpha(20 + 12 * self._pulse)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(halo)
            painter.drawRoundedRect(box.adjusted(-4, -4, 4, 4), 9, 9)
        pen = QPen(colour if visited else theme.color("muted" if possible else "border"), 2 if current else 1)
        if possible and not visited:
            pen.setDashPattern([3, 3])
        painter.setPen(pen)
        painter.setBrush(theme.color(f"state-{state}-soft") if visited else theme.color("surface"))
        painter.drawRoundedRect(box, 6, 6)
        self._draw_label(painter, box, state, visited, possible)

    def _draw_label(
        self, painter: QPainter, box: QRectF, state: JobState, visited: bool, possible: bool
    ) -> None:
        theme = self._desk.theme
        font = theme.font("strong" if state is self.path.current else "base")
        wide = QFontMetricsF(font).horizontalAdvance(state.value) + 24 <= box.width() - 8
        if not wide:
            font = theme.font("small")
        row = self._row if state is self.path.current else {"state": state.value}
        glyph = QRectF(box.left() + 8, box.center().y() - 6, 12, 12)
        space = QFontMetricsF(font).horizontalAdvance(state.value) + 28 <= box.width()
        if space:
            draw_glyph(painter, glyph, row or {"state": state.value}, theme, faint=not visited)
        painter.setFont(font)
        painter.setPen(theme.color("text" if visited else "muted"))
        room = box.adjusted(24 if space else 2, 0, -2, 0)
        align = Qt.AlignmentFlag.AlignVCenter | (
            Qt.AlignmentFlag.AlignLeft if space else Qt.AlignmentFlag.AlignHCenter
        )
        painter.drawText(room, align, state.value)
        if visited:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("muted"))
            below = QRectF(box.left(), box.bottom() + 1, box.width(), 16)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, words.clock(self.path.visits[state][-1]))

    def event(self, event: QEvent) -> bool:
        """Tell the exact times of the state under the mouse."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            for state in JobState:
                if self.node(state).contains(QPointF(event.pos())):
                    QToolTip.showText(event.globalPos(), self._about(state), self)
                    return True
            QToolTip.hideText()
        return super().event(event)

    def _about(self, state: JobState) -> str:
        times = self.path.visits.get(state, [])
        if times:
            return f"{state}: " + ", ".join(words.exact(moment) for moment in times)
        return f"{state}: may come next" if state in self.path.next else f"{state}: not reached"


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
