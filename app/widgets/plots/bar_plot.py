"""A chart of bars or lines with its read-out. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from app.theme.theme import Theme

_HEIGHT = 220


def whole_ticks(low: float, high: float, size: float) -> list[tuple[float, float]]:
    """Return the distance and offset of the ticks of an axis that counts: there is no half job."""
    rough = max(1.0, (high - low) / max(2.0, size / 40))
    power = 10 ** int(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [(step, 0)]


class BarPlot(QWidget):
    """One bar chart with a title, named axes, and a read-out of the bar under the pointer."""

    def __init__(self, theme: Theme, title: str, below: str, left: str = "jobs") -> None:
        super().__init__()
        self.theme = theme
        head = QLabel(title)
        head.setProperty("role", "strong")
        self.said = QLabel(" ")
        self.said.setProperty("role", "small")
        self.plot = pg.PlotWidget(background=theme.color("surface"))
        self.plot.setFixedHeight(_HEIGHT)
        self.plot.setAccessibleName(title)
        self.plot.setMenuEnabled(False)
        self.plot.setMouseEnabled(False, False)
        self.plot.hideButtons()
        self.plot.setLabel("left", left)
        self.plot.setLabel("bottom", below)
        self._bars: list[tuple[str, str]] = []
        self.plot.scene().sigMouseMoved.connect(self.read)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (head, self.plot, self.said):
            column.addWidget(part)

    def show_bars(self, names: list[str], stacks: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Show bars named below; stacks are (series name, numbers), one upon the other."""
        self.plot.clear()
        self.color()
        ground = [0.0] * len(names)
        for place, (_, numbers) in enumerate(stacks):
            color = self.theme.color(f"series-{place % 6 + 1}")
            self.plot.addItem(pg.BarGraphItem(
                x=list(range(len(names))), y0=list(ground), height=numbers, width=0.7, brush=color, pen=None,
            ))  # fmt: skip
            ground = [below + above for below, above in zip(ground, numbers, strict=True)]
        every = max(1, len(names) // 12)
        ticks = [(place, name) for place, name in enumerate(names) if place % every == 0]
        self.plot.getAxis("bottom").setTicks([ticks])
        self.plot.getAxis("left").tickSpacing = whole_ticks
        self.plot.setXRange(-0.6, max(3.6, len(names) - 0.4), padding=0)
        self.plot.setYRange(0, max([1, *ground]) * 1.1, padding=0)
        self._bars = [
            (name, ", ".join(f"{numbers[place]:,} {series}" for series, numbers in stacks if numbers[place]))
            for place, name in enumerate(names)
        ]

    def color(self) -> None:
        """Wear the theme."""
        self.plot.setBackground(self.theme.color("surface"))
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(self.theme.color("border-strong"), width=1))
            axis.setTextPen(self.theme.color("muted"))
            axis.setTickFont(self.theme.font("small"))

    def read(self, at: Any) -> None:
        """Read out what is below the pointer."""
        place = round(self.plot.getViewBox().mapSceneToView(at).x())
        if 0 <= place < len(self._bars):
            self.said.setText(": ".join(self._bars[place]))
