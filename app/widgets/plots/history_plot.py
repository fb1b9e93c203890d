"""Free CPUs and queue of a computing element over the last day. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsWidget, QVBoxLayout, QWidget

from app import units
from app.widgets.labels import label
from app.widgets.plots.bar_plot import whole_ticks

if TYPE_CHECKING:
    from app.theme.theme import Theme

_HEIGHT = 150
_SHORTEST = 5.0
"""Seconds across the plot, at least."""
Series = tuple[tuple[str, str], ...]
"""Name and colour token of each line."""


def time_axis() -> pg.DateAxisItem:
    """Return an axis that shows moments."""
    axis = pg.DateAxisItem(orientation="bottom")
    axis.zoomLevels[1] = axis.zoomLevels[30]  # else a span below a minute tells seconds alone: 05.000
    return axis


class HistoryCanvas(pg.GraphicsView):  # type: ignore[misc]  # which has no types
    """A view box between two axes. `pyqtgraph.PlotItem` has menus, buttons and dialogs beside these, which
    take longer to make than a turn of the window may last, and none of which is shown here."""

    def __init__(self, below: pg.AxisItem) -> None:
        super().__init__()
        self.box = pg.ViewBox(enableMenu=False)
        self.left, self.below = pg.AxisItem("left"), below
        self.axes = (self.left, self.below)
        grid = QGraphicsGridLayout()
        grid.setContentsMargins(1, 1, 1, 1)
        grid.setSpacing(0)
        for part, row, column in ((self.left, 0, 0), (self.box, 0, 1), (self.below, 1, 1)):
            grid.addItem(part, row, column)
        for axis in self.axes:
            axis.linkToView(self.box)
            axis.setZValue(0.5)  # above the lines
        frame = QGraphicsWidget()
        frame.setLayout(grid)
        self.setCentralItem(frame)


class HistoryPlot(QWidget):
    """Lines that step, a legend to click, and a read-out of the moment under the pointer."""

    def __init__(self, theme: Theme, series: Series, plot: HistoryCanvas, digits: int = 0) -> None:
        """`digits`: of fractions that are shown; 0: all numbers are whole."""
        super().__init__()
        self._theme, self._series, self._digits = theme, series, digits
        self._times = np.zeros(0)
        self._values: tuple[np.ndarray, ...] = (np.zeros(0), np.zeros(0))
        self.plot = plot
        self.plot.setFixedHeight(_HEIGHT)
        keeps = self.plot.sizePolicy()
        keeps.setRetainSizeWhenHidden(True)
        self.plot.setSizePolicy(keeps)
        self.plot.hide()  # until there are lines
        self.plot.setAccessibleName(f"{' and '.join(name for name, _ in series)} over time")
        self.plot.box.setMouseEnabled(True, False)
        self.legend = pg.LegendItem(offset=(-1, 1), colCount=len(series))
        self.legend.setParentItem(self.plot.box)
        self.curves = [pg.PlotCurveItem(name=name, stepMode="right", connect="finite") for name, _ in series]
        for curve in self.curves:
            self.plot.box.addItem(curve)
        if not digits:
            self.plot.left.tickSpacing = whole_ticks
        self.said = label(" ", role="small", fluid=True)
        self.plot.scene().sigMouseMoved.connect(self._read)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 12, 0)
        column.setSpacing(2)
        column.addWidget(self.plot)
        column.addWidget(self.said)
        theme.changed.connect(self._dress)
        self._dress()

    def show_history(self, times: Sequence[float], *values: Sequence[float]) -> None:
        """Show moments (seconds since the epoch, rising) with the numbers of each line."""
        self._times = np.array(times, dtype=float)
        self._values = tuple(np.array(line, dtype=float) for line in values)
        for curve, line in zip(self.curves, self._values, strict=True):
            curve.setData(self._times, line)
        known = (line[np.isfinite(line)] for line in self._values)
        top = max([0.1 if self._digits else 1.0, *(line.max() for line in known if len(line))])
        self.plot.box.setYRange(0, top * 1.5, padding=0)
        if len(times):
            self.plot.box.setXRange(times[0], max(times[-1], times[0] + _SHORTEST), padding=0.01)
        self.said.setText(self._sentence(len(times) - 1) if len(times) else " ")
        if self.plot.isHidden():  # painted in a turn of its own: all that makes room for it is, too
            QTimer.singleShot(0, self.plot, self.plot.show)

    def _dress(self) -> None:
        theme = self._theme
        self.plot.setBackground(theme.color("surface"))
        self.legend.setLabelTextColor(theme.color("text"))
        self.legend.setBrush(pg.mkBrush(theme.color("surface")))
        for curve, (name, token) in zip(self.curves, self._series, strict=True):
            curve.setPen(pg.mkPen(theme.color(token), width=1))
            self.legend.removeItem(curve)
            self.legend.addItem(curve, name)
        for axis in self.plot.axes:
            axis.setPen(pg.mkPen(theme.color("border-strong"), width=1))
            axis.setTextPen(theme.color("muted"))
            axis.setTickFont(theme.font("small"))

    def _read(self, at: Any) -> None:
        if len(self._times):
            here = self.plot.box.mapSceneToView(at).x()
            row = int(np.searchsorted(self._times, here)) - 1
            self.said.setText(self._sentence(max(0, min(row, len(self._times) - 1))))

    def _sentence(self, row: int) -> str:
        told = [
            f"{values[row]:,.{self._digits}f} {name}"
            for (name, _), values in zip(self._series, self._values, strict=True)
            if np.isfinite(values[row])
        ]
        return f"{units.exact(self._times[row])}: {', '.join(told)}"
