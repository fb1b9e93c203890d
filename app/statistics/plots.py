"""The plots of the statistics view: jobs per month, job sizes, waits. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.model import words

if TYPE_CHECKING:
    from app.context import Theme
    from broker_core.wire.views import Statistics

_HEIGHT = 220
_MONTHS = 12


class Plot(QWidget):
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

    def show_bars(self, names: list[str], stacks: list[tuple[str, list[int]]]) -> None:
        """Show bars named below; stacks are (series name, numbers), one upon the other."""
        self.plot.clear()
        self.colour()
        ground = [0] * len(names)
        for place, (_, numbers) in enumerate(stacks):
            color = self.theme.color(f"series-{place % 6 + 1}")
            self.plot.addItem(pg.BarGraphItem(
                x=list(range(len(names))), y0=list(ground), height=numbers, width=0.7, brush=color, pen=None,
            ))  # fmt: skip
            ground = [below + above for below, above in zip(ground, numbers, strict=True)]
        every = max(1, len(names) // 12)
        ticks = [(place, name) for place, name in enumerate(names) if place % every == 0]
        self.plot.getAxis("bottom").setTicks([ticks])
        self.plot.setXRange(-0.6, max(3.6, len(names) - 0.4), padding=0)
        self.plot.setYRange(0, max([1, *ground]) * 1.1, padding=0)
        self._bars = [
            (name, ", ".join(f"{numbers[place]:,} {series}" for series, numbers in stacks if numbers[place]))
            for place, name in enumerate(names)
        ]

    def colour(self) -> None:
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


class Plots(QWidget):
    """The three charts, one below the other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.months = Plot(theme, "Jobs per month", "month")
        self.sizes = Plot(theme, "Job sizes", "CPUs of a job")
        self.waits = Plot(theme, "Time from submission to start", "at most")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for part in (self.months, self.sizes, self.waits):
            column.addWidget(part)

    def show_statistics(self, numbers: Statistics) -> None:
        """Show all three."""
        months = sorted({item["month"] for item in numbers.months})[-_MONTHS:]
        kinds = sorted({item["kind"] for item in numbers.months})
        counted = {(item["month"], item["kind"]): item["jobs"] for item in numbers.months}
        stacks = [(kind, [counted.get((month, kind), 0) for month in months]) for kind in kinds]
        self.months.show_bars(months, stacks)
        sizes = sorted(numbers.sizes, key=lambda item: item["cpus"])
        self.sizes.show_bars(
            [str(item["cpus"]) for item in sizes], [("jobs", [item["jobs"] for item in sizes])]
        )
        names = ["more" if item["upto"] is None else words.duration(item["upto"]) for item in numbers.waits]
        self.waits.show_bars(names, [("jobs", [item["jobs"] for item in numbers.waits])])
