"""One point for each value. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtWidgets import QVBoxLayout, QWidget

if TYPE_CHECKING:
    from app.theme.theme import Theme

_LEAST = 180


class ScatterPlot(QWidget):
    """Numbers against values; values that are no numbers stand beside each other in their order."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.plot = pg.PlotWidget(enableMenu=False)
        self.plot.hideButtons()
        self.plot.setMinimumHeight(_LEAST)
        self.points = pg.ScatterPlotItem(size=7, hoverable=True, tip=None)
        self.plot.addItem(self.points)
        self._titles = ("", "")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.plot)
        theme.changed.connect(self._dress)
        self._dress()

    def show_points(self, values: list[str], numbers: list[float], across: str, up: str) -> None:
        """Show a number for each value; `across` and `up` name the axes."""
        positions, ticks = _positions(values)
        self.plot.getAxis("bottom").setTicks(ticks)
        self.points.setData(positions, numbers)
        self._titles = (across, up)
        self.plot.setAccessibleName(f"{up} against {across}: {len(numbers)} points")
        self.plot.getPlotItem().enableAutoRange()
        self._dress()

    def _dress(self) -> None:
        theme = self._theme
        self.plot.setBackground(theme.color("surface"))
        self.points.setBrush(pg.mkBrush(theme.color("series-1")))
        self.points.setPen(pg.mkPen(theme.color("surface")))
        for side, title in zip(("bottom", "left"), self._titles, strict=True):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(theme.color("border-strong")))
            axis.setTextPen(pg.mkPen(theme.color("muted")))
            axis.setStyle(tickFont=theme.font("small"))
            axis.setLabel(title, color=theme.color("muted").name())
        self.plot.getPlotItem().showGrid(x=True, y=True, alpha=0.12)


def _positions(values: list[str]) -> tuple[list[float], list[list[tuple[float, str]]] | None]:
    """Where values stand on the axis, and its ticks if it is not one of numbers."""
    try:
        return [float(value) for value in values], None
    except ValueError:
        step = max(1, len(values) // 12)
        ticks = [(float(at), value[:16]) for at, value in enumerate(values) if at % step == 0]
        return [float(at) for at in range(len(values))], [ticks]
