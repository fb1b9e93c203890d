"""Curves of one or several runs, live: zoom, logarithmic axes, a cursor, export. Imported late."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.context import Notice, Tone
from app.inspector.view.curve_data import NamedCurve, RecordedRun, curves_of, in_view, value_at, written
from app.inspector.view.plot_style import COLORS, bare_plot, pen, style_plot
from app.widgets.export import export
from app.widgets.labels import label
from app.widgets.save_dialog import ask_where, not_saved
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.view.changes import Marker
    from app.widgets.csv_file import Written
_NAMED = 18
"""Curves that the legend names; with more it would hide them."""
_READ_OUT = 12
_MARKED = 100
"""Changes of parameters that are marked: the latest."""


class CurvesView(QWidget):
    """All curves in one plot; it follows them until somebody zooms."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.curves: list[NamedCurve] = []
        self.plot = bare_plot("Curves")
        self.legend = self.plot.addLegend(offset=(-8, 8))
        self.marker = pg.InfiniteLine(angle=90, movable=False)
        self.changes: list[Marker] = []
        """Changes of parameters, which stand as lines at their x."""
        self._change_lines: list[Any] = []
        self.readout = label(" ", role="small", fluid=True)
        self.log_x, self.log_y = self._switch("log x"), self._switch("log y")
        self.fit_button = tool_button(context.theme.icon("maximize-2"), "Show all of it")
        self.save_picture = tool_button(context.theme.icon("image"), "Save the plot as PNG")
        self.save_table = tool_button(context.theme.icon("download"), "Export the curves as CSV")
        self._items: list[Any] = []
        self._following = True
        self._due = QTimer(self, singleShot=True, interval=0)
        self._lay_out()
        self._connect()
        self._style()

    def _switch(self, text: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setCheckable(True)
        button.setToolTip(f"Logarithmic axis {text[-1]}")
        button.setAccessibleName(f"Logarithmic axis {text[-1]}")
        button.toggled.connect(self._axes_changed)
        return button

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.setSpacing(2)
        bar.addWidget(self.readout, 1)
        for button in (self.log_x, self.log_y, self.fit_button, self.save_picture, self.save_table):
            bar.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.plot, 1)
        self.plot.setMinimumHeight(180)
        self.plot.addItem(self.marker, ignoreBounds=True)
        self.marker.hide()

    def _connect(self) -> None:
        self._due.timeout.connect(self.draw)
        self.plot.getViewBox().sigRangeChangedManually.connect(self._zoomed)
        self.plot.scene().sigMouseMoved.connect(self._read_out)
        self.fit_button.clicked.connect(self.fit)
        self.save_picture.clicked.connect(self._ask_picture)
        self.save_table.clicked.connect(self._ask_table)
        self._context.theme.changed.connect(self._style)

    # --- what is shown

    def show_runs(self, runs: Sequence[RecordedRun]) -> None:
        """Show the curves of these runs as they are now."""
        found = curves_of(runs)
        if [(one.name, one.run) for one in found] != [(one.name, one.run) for one in self.curves]:
            self.curves = found
            self._make_items(len(runs) > 1)
        self.curves = found
        self.draw()

    def show_changes(self, changes: Sequence[Marker]) -> None:
        """Mark changes of parameters at their x."""
        if list(changes) != self.changes:
            self.changes = list(changes)
            self._draw_changes()

    def _draw_changes(self) -> None:
        for line in self._change_lines:
            self.plot.removeItem(line)
        self._change_lines = []
        drawn = pg.mkPen(self._context.theme.color("accent"), width=1, style=Qt.PenStyle.DotLine)
        for one in self.changes[-_MARKED:]:
            if self.log_x.isChecked() and one.x <= 0:
                continue
            at = math.log10(one.x) if self.log_x.isChecked() else one.x
            line = pg.InfiniteLine(at, angle=90, movable=False, pen=drawn)
            line.setToolTip(one.words)
            self.plot.addItem(line, ignoreBounds=True)
            self._change_lines.append(line)

    def draw(self) -> None:
        """Draw what is in view."""
        span = None if self._following else self._span()
        pixels = max(200, self.plot.width())
        log = (self.log_x.isChecked(), self.log_y.isChecked())
        for item, one in zip(self._items, self.curves, strict=True):
            if item.isVisible():
                item.setData(*in_view(one.curve, span, pixels, log))

    def fit(self) -> None:
        """Show all, and follow what comes."""
        self._following = True
        self.draw()
        self.plot.enableAutoRange()

    def _make_items(self, several: bool) -> None:
        self.legend.clear()
        for item in self._items:
            self.plot.removeItem(item)
        self._items = []
        for index, one in enumerate(self.curves):
            named = one.name if index < _NAMED else None
            item = self.plot.plot(name=named, pen=self._pen(one, several), connect="finite")
            item.setLogMode(self.log_x.isChecked(), self.log_y.isChecked())
            item.visibleChanged.connect(self._due.start)
            self._items.append(item)
        names = ", ".join(one.name for one in self.curves[:_NAMED])
        self.plot.setAccessibleName(f"Curves of {names}")

    def _pen(self, one: NamedCurve, several: bool) -> Any:
        """Several runs have a color each, and their curves a kind of line; one run has colors for curves."""
        color, line = (one.run, one.number) if several else (one.number, one.number // len(COLORS))
        return pen(self._context.theme, color, line)

    def _axes_changed(self) -> None:
        self.plot.setLogMode(self.log_x.isChecked(), self.log_y.isChecked())
        self._draw_changes()
        self.fit()

    def _span(self) -> tuple[float, float]:
        low, high = self.plot.getViewBox().viewRange()[0]
        return (10.0**low, 10.0**high) if self.log_x.isChecked() else (low, high)

    def _zoomed(self) -> None:
        self._following = False
        self._due.start()

    def _style(self) -> None:
        theme = self._context.theme
        style_plot(self.plot, theme)
        self.legend.setLabelTextColor(theme.color("text"))
        self.legend.setBrush(pg.mkBrush(theme.color("surface")))
        self.marker.setPen(pg.mkPen(theme.color("border-strong"), width=1))
        self._make_items(len({one.run for one in self.curves}) > 1)
        self._draw_changes()
        self.draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Other pixels have other points."""
        super().resizeEvent(event)
        self._due.start()

    # --- the cursor

    def _read_out(self, at: Any) -> None:
        item = self.plot.getPlotItem()
        inside = bool(self.curves) and item.sceneBoundingRect().contains(at)
        self.marker.setVisible(inside)
        if not inside:
            self.readout.setText(" ")
            return
        here = item.vb.mapSceneToView(at).x()
        self.marker.setValue(here)
        self.readout.setText(self.words_at(10.0**here if self.log_x.isChecked() else here))

    def words_at(self, x: float) -> str:
        """The values of the curves that are shown, at the points nearest to `x`."""
        shown = [one for one, item in zip(self.curves, self._items, strict=True) if item.isVisible()]
        found = [(one.name, value_at(one.curve, x)) for one in shown[:_READ_OUT]]
        near = [point[0] for _, point in found if point is not None]
        if not near:
            return " "
        words = [f"x {min(near, key=lambda one: abs(one - x)):g}"]
        words += [f"{name} {point[1]:.6g}" for name, point in found if point is not None]
        before = [one for one in self.changes if one.x <= x]
        words += [before[-1].words] if before else []
        return "   ".join(words)

    # --- export

    def _ask_picture(self) -> None:
        ask_where(self.window(), "Save the plot", self.write_picture, name="curves.png", suffix="png")

    def write_picture(self, path: Path) -> None:
        """Save the plot as it is shown; tells how it went."""
        self._context.run(self._write_picture(path), f"writing {path}")

    async def _write_picture(self, path: Path) -> None:
        content = self.plot.grab().toImage()
        if not content.save(str(path)):
            raise not_saved("The plot", path, OSError("the file cannot be written"))
        self._context.notify(Notice(f"Wrote the plot to {path}.", Tone.GOOD))

    def _ask_table(self) -> None:
        export(self._context, self.window(), "curves", "row", self.gather)

    async def gather(self) -> Written:
        """All points of all curves."""
        return written(self.curves)
