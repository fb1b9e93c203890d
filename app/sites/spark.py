"""The queue of a site over time in a few pixels; the page of one site has the plot with axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.sites import SiteView

_HEIGHT = 44


class QueueSpark(QWidget):
    """Running jobs as an area and queued ones as a line, without axes; light enough for fifty cards."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._times: list[float] = []
        self._queued: list[int] = []
        self._running: list[int] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(160, _HEIGHT)

    def show_site(self, site: SiteView) -> None:
        """Show the history that the broker tells."""
        self._times = site.times
        self._queued, self._running = site.history_queued, site.history_running
        top = max([0, *self._queued, *self._running])
        said = f"Queued (line) and running (area) jobs over time; at most {top:,} at once"
        self.setToolTip(said if self._times else "No history yet")
        self.setAccessibleName(f"{site.spec.name}: {said}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint both series over a ground line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0, 2, 0, -1)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        if len(self._times) < 2:
            painter.setPen(self._theme.color("faint"))
            painter.setFont(self._theme.font("small"))
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, "The plot of the queue begins with its first jobs"
            )
            return
        running = self._points(self._running, box)
        area = QPolygonF(
            [QPointF(running[0].x(), box.bottom()), *running, QPointF(box.right(), box.bottom())]
        )
        soft = QColor(self._theme.color("state-Running"))
        soft.setAlphaF(0.18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        painter.drawPolygon(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for points, token in (
            (running, "state-Running"),
            (self._points(self._queued, box), "state-Scheduled"),
        ):
            painter.setPen(QPen(self._theme.color(token), 1.2))
            painter.drawPolyline(points)

    def _points(self, values: list[int], box: QRectF) -> list[QPointF]:
        first, span = self._times[0], max(1e-9, self._times[-1] - self._times[0])
        top = max([1, *self._queued, *self._running])
        return [
            QPointF(
                box.left() + box.width() * (time - first) / span, box.bottom() - box.height() * value / top
            )
            for time, value in zip(self._times, values, strict=False)
        ]
