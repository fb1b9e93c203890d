"""How plots of published data wear the theme. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPen

if TYPE_CHECKING:
    from app.theme.theme import Theme

COLORS = tuple(f"series-{number}" for number in range(1, 7))
_LINES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)


def pen(theme: Theme, color: int, line: int) -> QPen:
    """The pen of a curve: a color, and a kind of line where colors alone do not tell curves apart."""
    made = QPen(theme.color(COLORS[color % len(COLORS)]), 1, _LINES[line % len(_LINES)])
    made.setCosmetic(True)
    return made


def style_plot(plot: pg.PlotWidget, theme: Theme) -> None:
    """Let a plot wear the theme."""
    plot.setBackground(theme.color("surface"))
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(theme.color("border-strong"), width=1))
        axis.setTextPen(theme.color("muted"))
        axis.setTickFont(theme.font("small"))


def bare_plot(name: str) -> pg.PlotWidget:
    """An empty plot without pyqtgraph's own menus and buttons."""
    plot = pg.PlotWidget(enableMenu=False)
    plot.setAccessibleName(name)
    plot.hideButtons()
    plot.getPlotItem().layout.setContentsMargins(8, 4, 12, 4)
    return plot
