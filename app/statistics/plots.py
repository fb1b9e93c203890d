"""The plots of the statistics view: use, jobs per month, sizes, waits. Imported late: pyqtgraph is heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import units
from app.widgets.plots.bar_plot import BarPlot

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.views import Statistics

_MONTHS = 12


class StatisticsPlots(QWidget):
    """The charts, one below the other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.days = BarPlot(theme, "CPU hours per day, all runs", "day", "CPU hours")
        self.months = BarPlot(theme, "Jobs per month", "month")
        self.sizes = BarPlot(theme, "Job sizes", "CPUs of a job")
        self.waits = BarPlot(theme, "Time from submission to start", "at most")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for part in (self.days, self.months, self.sizes, self.waits):
            column.addWidget(part)

    def show_statistics(self, numbers: Statistics) -> None:
        """Show what the broker counted."""
        months = sorted({item["month"] for item in numbers.months})[-_MONTHS:]
        kinds = sorted({item["kind"] for item in numbers.months})
        counted = {(item["month"], item["kind"]): item["jobs"] for item in numbers.months}
        stacks = [(kind, [counted.get((month, kind), 0) for month in months]) for kind in kinds]
        self.months.show_bars(months, stacks)
        sizes = sorted(numbers.sizes, key=lambda item: item["cpus"])
        self.sizes.show_bars(
            [str(item["cpus"]) for item in sizes], [("jobs", [item["jobs"] for item in sizes])]
        )
        names = ["more" if item["upto"] is None else units.duration(item["upto"]) for item in numbers.waits]
        self.waits.show_bars(names, [("jobs", [item["jobs"] for item in numbers.waits])])

    def show_use(self, days: list[tuple[str, float]]) -> None:
        """Show days with their CPU hours."""
        self.days.show_bars([day for day, _ in days], [("CPU hours", [hours for _, hours in days])])
