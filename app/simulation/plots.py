"""The curves of a replay. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import units
from app.simulation.figures import legend
from app.widgets.plots.bar_plot import BarPlot

if TYPE_CHECKING:
    from app.theme.theme import Theme

_HOUR, _DAY = 3600.0, 86400.0
_LONG = 4 * _DAY
"""Replays longer than this are shown in days."""
_AXIS = 64
"""Pixels beside each chart, so that the same moment stands at the same place in all."""


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its name, and values at moments (seconds of virtual time, rising)."""

    name: str
    time: Sequence[float]
    values: Sequence[float]


class SimulationCurves(BarPlot):
    """Lines over virtual time with a legend in words; the pointer reads them out."""

    def __init__(self, theme: Theme, title: str, left: str, percent: bool) -> None:
        super().__init__(theme, title, "hours", left)
        self._percent = percent
        self.plot.getAxis("bottom").enableAutoSIPrefix(False)
        self._lines: list[Line] = []
        self._unit = _HOUR
        self.said.setTextFormat(Qt.TextFormat.RichText)

    def show_lines(self, lines: list[Line], named: bool = True) -> None:
        """Show curves over each other; `named`: with their names below them."""
        self.plot.clear()
        self.color()
        end = max((one.time[-1] for one in lines if len(one.time)), default=0.0)
        self._unit, name = (_DAY, "days") if end > _LONG else (_HOUR, "hours")
        self.plot.setLabel("bottom", name)
        self._lines = lines
        factor = 100 if self._percent else 1
        for nth, one in enumerate(lines):
            pen = pg.mkPen(self.theme.color(f"series-{nth + 1}"), width=2)
            across = [moment / self._unit for moment in one.time]
            self.plot.plot(across, [value * factor for value in one.values], pen=pen)
        top = max([1.0, *(value * factor for one in lines for value in one.values)])
        self.plot.setYRange(0, 105 if self._percent else top * 1.1, padding=0)
        self.plot.setXRange(0, max(0.01, end / self._unit), padding=0)
        self.said.setText(legend(self.theme, [one.name for one in lines]) if named else " ")

    def read(self, at: Any) -> None:
        """Read out the values below the pointer; of a curve that has ended there, none."""
        moment = self.plot.getViewBox().mapSceneToView(at).x() * self._unit
        ends = [bisect_left(one.time, moment) for one in self._lines]
        values = [
            f"{one.name} {self._number(one.values[nth])}"
            for one, nth in zip(self._lines, ends, strict=True)
            if nth < len(one.time)
        ]
        if values and moment >= 0:
            self.said.setText(escape(f"{moment / self._unit:.1f}: {', '.join(values)}"))

    def _number(self, value: float) -> str:
        return f"{value:.1%}" if self._percent else f"{value:,.1f}"


class SimulationPlots(QWidget):
    """The three charts, one below the other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.used = SimulationCurves(theme, "Utilization", "% of CPUs", True)
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
        self.used.show_lines([Line("in use", time, used)])
        self.queue.show_lines([Line("waiting", time, queue)])

    def show_curves(self, curves: dict[str, Any]) -> None:
        """The curves of a finished replay."""
        time = curves["time"]
        average = Line("average so far", time, curves["average"])
        self.used.show_lines([Line("in use", time, curves["utilization"]), average])
        self.queue.show_lines([Line("waiting", time, curves["queue"])])
        names = ["longer" if bound < 0 else units.duration(bound) for bound in curves["wait_bounds"]]
        self.waits.show_bars(names, [("jobs", curves["wait_counts"])])
        self.waits.show()

    def show_together(self, runs: Sequence[tuple[str, dict[str, Any]]]) -> None:
        """The curves of several replays by their names, over each other; the legend stands elsewhere."""
        self.waits.hide()
        for chart, kind in ((self.used, "utilization"), (self.queue, "queue")):
            chart.show_lines([Line(name, curves["time"], curves[kind]) for name, curves in runs], named=False)
