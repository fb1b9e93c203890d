"""The slow pulse of running jobs: a sign that what is shown is live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.jobs.columns import BY_NAME
from app.theme.faces import Shape

if TYPE_CHECKING:
    from app.jobs.view import JobsView
    from app.shell.desk import WindowDesk

_STEP = 300
"""Milliseconds between two steps."""
_BEAT = (1.0, 0.9, 0.75, 0.6, 0.5, 0.6, 0.75, 0.9)
"""Opacity of the glyph, step by step."""
_STATE = BY_NAME["state"]


class Pulse(QObject):
    """One timer for all rows, at rest without a broker or without a running job; repaints glyphs in sight."""

    def __init__(self, desk: WindowDesk, view: JobsView) -> None:
        super().__init__(view)
        self._desk, self._view, self._step = desk, view, 0
        self._timer = QTimer(self, interval=_STEP)
        self._timer.timeout.connect(self._beat)
        desk.link.changed.connect(self._look)
        desk.jobs.changed.connect(self._look)

    @property
    def beating(self) -> bool:
        """True while the glyphs pulse."""
        return self._timer.isActive()

    def _look(self) -> None:
        wanted = self._desk.link.up and self._desk.jobs.states["Running"] > 0
        if wanted and not self.beating:
            self._timer.start()
        elif self.beating and not wanted:
            self._timer.stop()
            self._show(0)

    def _beat(self) -> None:
        if self._view.isVisible():
            self._show((self._step + 1) % len(_BEAT))

    def _show(self, step: int) -> None:
        self._step, self._view.delegate.pulse = step, _BEAT[step]
        table = self._view.model()
        first, last = self._view.window_lines()
        for line in range(first, last + 1):
            if table.face(line).shape is Shape.FILLED:
                self._view.viewport().update(self._view.visualRect(table.index(line, _STATE)))
