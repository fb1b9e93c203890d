"""The time of a job as one bar: the four steps of overhead, then the run (CB-UI-03)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector import job_times
from broker_core.jobs.story import Spent, StoryStep

if TYPE_CHECKING:
    from app.context import AppContext

_LOOKS: dict[StoryStep, tuple[str, str, int]] = {
    StoryStep.PREPARING: ("Preparation", "state-Submitted", 130),
    StoryStep.SELECTING: ("Waiting for a site", "state-Waiting", 255),
    StoryStep.SUBMITTING: ("Handing over", "state-Ready", 130),
    StoryStep.STARTING: ("Waiting to start there", "state-Scheduled", 255),
    StoryStep.RUNNING: ("Running", "state-Running", 255),
}
"""Words, theme token and opacity of each step; the words fit this machine too."""
_SHORTEST = 0.0005
"""Seconds below which a step is none worth a line: it would read 0 ms."""
_BAR, _LINE, _LEAST = 14, 22, 3.0


class Timeline(QWidget):
    """The bar, and under it each step with its duration."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.steps: tuple[Spent, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        context.theme.changed.connect(self.update)

    def show_steps(self, steps: Sequence[Spent]) -> None:
        """Draw the time that went into each step."""
        before = self.lines
        self.steps = tuple(
            one for one in steps if one.open or one.seconds >= _SHORTEST or one.expected is not None
        )
        told = ", ".join(f"{_LOOKS[one.step][0]} {' '.join(_spans(one))}" for one in self.steps)
        self.setAccessibleName(f"Time spent: {told}" if told else "Time spent: nothing yet")
        if self.lines != before:
            self.updateGeometry()
        self.update()

    @property
    def lines(self) -> int:
        """How many lines stand under the bar."""
        return sum(len(_spans(one)) for one in self.steps)

    def sizeHint(self) -> QSize:
        """A bar, and the lines of every step."""
        return QSize(320, _BAR + 10 + _LINE * max(1, self.lines))

    def minimumSizeHint(self) -> QSize:
        """The same: nothing can be left out."""
        return self.sizeHint()

    def widths(self, room: float) -> list[float]:
        """Share `room` pixels among the steps by their time, none narrower than can be seen."""
        spans = [one.seconds for one in self.steps]
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
            painter.setBrush(self._color(step))
            painter.drawRoundedRect(QRectF(left, 2, max(1.0, width - 1), _BAR), 2, 2)
            left += width
        line = 0
        for step in self.steps:
            self._draw_lines(painter, line, step)
            line += len(_spans(step))

    def _color(self, step: Spent) -> QColor:
        _, token, opacity = _LOOKS[step.step]
        color = QColor(self._context.theme.color(token))
        color.setAlpha(opacity)
        return color

    def _draw_lines(self, painter: QPainter, line: int, step: Spent) -> None:
        theme = self._context.theme
        box = QRectF(0, _BAR + 8 + line * _LINE, self.width(), _LINE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._color(step))
        painter.drawRoundedRect(QRectF(0, box.center().y() - 4, 8, 8), 2, 2)
        painter.setFont(theme.font("base"))
        painter.setPen(theme.color("text"))
        middle = Qt.AlignmentFlag.AlignVCenter
        words = _LOOKS[step.step][0]
        painter.drawText(box.adjusted(16, 0, 0, 0), middle | Qt.AlignmentFlag.AlignLeft, words)
        for span in _spans(step):
            painter.drawText(box, middle | Qt.AlignmentFlag.AlignRight, span)
            painter.setPen(theme.color("muted"))
            box.translate(0, _LINE)


def _spans(step: Spent) -> tuple[str, ...]:
    """How long a step took, and, in a line of its own, how long it was believed to take."""
    span = job_times.duration(step.seconds) + (" so far" if step.open else "")
    if step.expected is None:
        return (span,)
    return span, f"({job_times.duration(step.expected) if step.expected else 'at once'} expected)"
