"""The curves of a replay. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import units
from app.widgets.plots.bar_plot import BarPlot

if TYPE_CHECKING:
    from app.theme.theme import Theme

_HOUR, _DAY = 3600.0, 86400.0
_LONG = 4 * _DAY
"""Replays longer than this are shown in days."""
_AXIS = 64
"""Pixels beside each chart, so that the same moment stands at the same place in all."""


class SimulationCurves(BarPlot):
    """Lines over virtual time with a legend in words; the pointer reads them out."""

    def __init__(self, theme: Theme, title: str, left: str, percent: bool) -> None:
        super().__init__(theme, title, "hours", left)
        self._percent = percent
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self._lines: list[tuple[str, list[float]]] = []
        self._time: list[float] = []

    def show_lines(self, time: list[float], lines: list[tuple[str, list[float]]]) -> None:
        """Show series over `time` (seconds), each with its name."""
        self.plot.clear()
        self.color()
        unit, name = (_DAY, "days") if time and time[-1] > _LONG else (_HOUR, "hours")
        self.plot.setLabel("bottom", name)
        self._time, self._lines = [moment / unit for moment in time], lines
        factor = 100 if self._percent else 1
        for place, (_, values) in enumerate(lines):
            pen = pg.mkPen(self.theme.color(f"series-{place + 1}"), width=2)
            self.plot.plot(self._time, [value * factor for value in values], pen=pen)
        top = max([1.0, *(value * factor for _, values in lines for value in values)])
        self.plot.setYRange(0, 105 if self._percent else top * 1.1, padding=0)
        self.plot.setXRange(0, max([0.01, *self._time[-1:]]), padding=0)
        self.said.setTextFormat(Qt.TextFormat.RichText)
        self.said.setText(self._legend())

    def _legend(self) -> str:
        """The names in the colours of their lines."""
        return " &nbsp; ".join(
            f"<span style='color:{self.theme.color(f'series-{place + 1}').name()}'>■</span> {escape(name)}"
            for place, (name, _) in enumerate(self._lines)
        )

    def read(self, at: Any) -> None:
        """Read out the values below the pointer."""
        moment = self.plot.getViewBox().mapSceneToView(at).x()
        place = next((at for at, time in enumerate(self._time) if time >= moment), -1)
        if place < 0 or moment < 0:
            return
        values = ", ".join(f"{name} {self._number(values[place])}" for name, values in self._lines)
        self.said.setText(escape(f"{self._time[place]:.1f}: {values}"))

    def _number(self, value: float) -> str:
        return f"{value:.1%}" if self._percent else f"{value:,.1f}"


class SimulationPlots(QWidget):
    """The three charts, one below the other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.used = SimulationCurves(theme, "Utilisation", "% of CPUs", True)
        self.queue = SimulationCurves(theme, "Queue", "jobs waiting", False)
        self.waits = BarPlot(theme, "Time from submission to start", "at most")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for part in (self.used, self.queue, self.waits):
            part.plot.getAxis("left").setWidth(_AXIS)
            column.addWidget(part)

    def show_points(self, time: list[float], used: list[float], queue: list[float]) -> None:
        """What is known while the replay goes on: how things stood at some moments."""
        self.waits.hide()
        self.used.show_lines(time, [("in use", used)])
        self.queue.show_lines(time, [("waiting", queue)])

    def show_curves(self, curves: dict[str, Any]) -> None:
        """The curves of a finished replay."""
        time = curves["time"]
        self.used.show_lines(time, [("in use", curves["utilization"]), ("average so far", curves["average"])])
        self.queue.show_lines(time, [("waiting", curves["queue"])])
        names = ["longer" if bound < 0 else units.duration(bound) for bound in curves["wait_bounds"]]
        self.waits.show_bars(names, [("jobs", curves["wait_counts"])])
        self.waits.show()
