"""The numeric columns of a table, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.output.table_data import ParsedTable, across_of
from app.widgets.labels import label
from app.widgets.plots.thinning import thinned

if TYPE_CHECKING:
    from app.context import AppContext

_SERIES = tuple(f"series-{number}" for number in range(1, 7))


class TablePlot(QWidget):
    """Thin lines in the theme's colours, a legend to click, and a read-out under the mouse."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._table = ParsedTable([], [])
        self.plot = pg.PlotWidget()
        self.plot.setAccessibleName("Plot")
        self.readout = label(" ", role="small", fluid=True)
        self.readout.setContentsMargins(12, 2, 12, 6)
        self._curves: list[tuple[int, Any]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.plot, 1)
        column.addWidget(self.readout)
        self.plot.getPlotItem().setMenuEnabled(False)
        self.plot.getPlotItem().hideButtons()
        self.plot.getPlotItem().layout.setContentsMargins(8, 4, 12, 4)
        self.plot.scene().sigMouseMoved.connect(self._read_out)
        context.theme.changed.connect(self._draw)

    def show_table(self, table: ParsedTable) -> None:
        """Draw a table; the x axis is the first column if it only rises, else the row number."""
        self._table = table
        self._draw()

    def columns(self) -> list[int]:
        """Return the columns drawn, at most as many as there are colours."""
        across = across_of(self._table)
        return [column for column in self._table.numbers if column != across][: len(_SERIES)]

    def _x(self) -> tuple[str, np.ndarray]:
        across = across_of(self._table)
        if across is None:
            return "Row", np.arange(1, len(self._table.rows) + 1, dtype=float)
        return self._table.names[across], self._table.numbers[across]

    def _draw(self) -> None:
        theme, item = self._context.theme, self.plot.getPlotItem()
        self.plot.setBackground(theme.color("surface"))
        item.clear()
        if item.legend is not None:
            item.legend.scene() and item.legend.scene().removeItem(item.legend)
            item.legend = None
        item.addLegend(
            offset=(-8, 8),
            labelTextColor=theme.color("text"),
            brush=pg.mkBrush(theme.color("raised")),
            pen=pg.mkPen(theme.color("border")),
        )
        name, x = self._x()
        shown = self.columns()
        self._curves = [
            (column, self._curve(item, column, x, token))
            for column, token in zip(shown, _SERIES, strict=False)
        ]
        self._axes(item, name, [self._table.names[column] for column in shown])
        item.enableAutoRange()
        self.setAccessibleName(
            f"Plot of {', '.join(self._table.names[column] for column in shown)} over {name}"
        )

    def _curve(self, item: Any, column: int, x: np.ndarray, token: str) -> Any:
        xs, ys = thinned(x, self._table.numbers[column], max(400, self.width()))
        pen = pg.mkPen(self._context.theme.color(token), width=1)
        return item.plot(xs, ys, pen=pen, name=self._table.names[column], connect="finite")

    def _axes(self, item: Any, across: str, up: list[str]) -> None:
        theme = self._context.theme
        for side, said in (("bottom", across), ("left", up[0] if len(up) == 1 else "")):
            axis = item.getAxis(side)
            axis.setPen(pg.mkPen(theme.color("border-strong")))
            axis.setTextPen(pg.mkPen(theme.color("muted")))
            axis.setStyle(tickFont=theme.font("small"))
            axis.setLabel(said, color=theme.color("muted").name())
            axis.showLabel(bool(said))
        item.showGrid(x=True, y=True, alpha=0.12)

    def _read_out(self, place: Any) -> None:
        item = self.plot.getPlotItem()
        name, x = self._x()
        if not len(x) or not item.sceneBoundingRect().contains(place):
            self.readout.setText(" ")
            return
        here = item.vb.mapSceneToView(place).x()
        row = int(np.clip(np.searchsorted(x, here), 0, len(x) - 1))
        parts = [f"{name} {x[row]:g}"]
        parts += [
            f"{self._table.names[column]} {self._table.numbers[column][row]:g}"
            for column, curve in self._curves
            if curve.isVisible()
        ]
        self.readout.setText("   ".join(parts))
