"""The time of a job as one bar: the four steps of overhead, then the run (CB-UI-03)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector import words

if TYPE_CHECKING:
    from app.context import Desk

_STEPS = (
    ("Pre-processing", "submitted", "accepted", "state-Submitted", 130),
    ("Selection", "accepted", "matched", "state-Waiting", 255),
    ("Remote submission", "matched", "scheduled", "state-Ready", 130),
    ("Start-up", "scheduled", "started", "state-Scheduled", 255),
    ("Running", "started", "ended", "state-Running", 255),
)
"""Name, the columns where it begins and ends, theme token and opacity."""
_BAR, _LINE, _LEAST = 14, 22, 3.0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a job's time, in seconds since the epoch."""

    name: str
    start: float
    end: float
    open: bool
    """True while it goes on; `end` is then the present."""
    token: str
    opacity: int


def steps_of(row: dict[str, Any], now: float) -> list[Step]:
    """Split a job's row into its steps; those not reached are absent, the last may still be open."""
    steps: list[Step] = []
    over = row.get("ended")
    for name, begins, ends, token, opacity in _STEPS:
        start = row.get(begins)
        if start is None or (steps and start < steps[-1].start):
            break
        end = row.get(ends)
        going = end is None or end < start
        last = (over if over is not None else now) if going else end
        steps.append(Step(name, start, max(start, last), going and over is None, token, opacity))
        if going:
            break
    return steps


class Timeline(QWidget):
    """The bar, and under it each step with its duration."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.steps: list[Step] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        desk.theme.changed.connect(self.update)

    def show_row(self, row: dict[str, Any], now: float) -> None:
        """Draw the times of a job's row as they are at `now`."""
        before = len(self.steps)
        self.steps = steps_of(row, now)
        told = ", ".join(f"{step.name} {words.duration(step.end - step.start)}" for step in self.steps)
        self.setAccessibleName(f"Time spent: {told}" if told else "Time spent: nothing yet")
        if len(self.steps) != before:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A bar, and a line for every step."""
        return QSize(320, _BAR + 10 + _LINE * max(1, len(self.steps)))

    def minimumSizeHint(self) -> QSize:
        """The same: nothing can be left out."""
        return self.sizeHint()

    def widths(self, room: float) -> list[float]:
        """Share `room` pixels among the steps by their time, none narrower than can be seen."""
        spans = [step.end - step.start for step in self.steps]
        whole = sum(spans)
        spare = room - _LEAST * len(spans)
        return [_LEAST + (spare * span / whole if whole else 0.0) for span in spans]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar and the lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        left = 0.0
        for step, width in zip(self.steps, self.widths(float(self.width())), strict=True):
            painter.setBrush(self._colour(step))
            painter.drawRoundedRect(QRectF(left, 2, max(1.0, width - 1), _BAR), 2, 2)
            left += width
        for number, step in enumerate(self.steps):
            self._draw_line(painter, number, step)

    def _colour(self, step: Step) -> QColor:
        colour = QColor(self._desk.theme.color(step.token))
        colour.setAlpha(step.opacity)
        return colour

    def _draw_line(self, painter: QPainter, number: int, step: Step) -> None:
        theme = self._desk.theme
        box = QRectF(0, _BAR + 8 + number * _LINE, self.width(), _LINE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour(step))
        painter.drawRoundedRect(QRectF(0, box.center().y() - 4, 8, 8), 2, 2)
        painter.setFont(theme.font("base"))
        painter.setPen(theme.color("text"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box.adjusted(16, 0, 0, 0), middle | Qt.AlignmentFlag.AlignLeft, step.name)
        span = words.duration(step.end - step.start) + (" so far" if step.open else "")
        painter.drawText(box, middle | Qt.AlignmentFlag.AlignRight, span)
