"""Arrays: pictures, planes, lines, distributions, and the versions before. Imported late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QSlider,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.context import Notice, Tone
from app.inspector.view.array_image import distribution, extent_of, image_of, plane_of, planes_of
from app.inspector.view.chooser import chooser
from app.inspector.view.plot_style import bare_plot, pen, style_plot
from app.widgets.csv_file import Written
from app.widgets.export import export
from app.widgets.labels import label
from app.widgets.plots.image_view import ImageView
from app.widgets.plots.thinning import thinned
from app.widgets.save_dialog import ask_where, not_saved
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.jobs.published.recording import ArrayHistory


class Stepper(QWidget):
    """A slider with its name and number; there is none to see where there is nothing to choose."""

    moved = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.slider, self.words = QSlider(Qt.Orientation.Horizontal), label(role="small")
        self.slider.setAccessibleName(name)
        self.slider.setMaximum(0)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 4)
        row.addWidget(self.words)
        row.addWidget(self.slider, 1)
        self.slider.valueChanged.connect(self._changed)
        self.hide()

    @property
    def at_end(self) -> bool:
        """The last one is chosen."""
        return self.slider.value() == self.slider.maximum()

    def offer(self, count: int, *, follow: bool) -> None:
        """There are so many; `follow`: who has chosen the last goes on to the new last."""
        stay = self.slider.value() if not (follow and self.at_end) else count - 1
        self.slider.blockSignals(True)
        self.slider.setMaximum(count - 1)
        self.slider.setValue(stay)
        self.slider.blockSignals(False)
        self.setVisible(count > 1)
        self._tell()

    def _changed(self, value: int) -> None:
        self._tell()
        self.moved.emit(value)

    def _tell(self) -> None:
        self.words.setText(f"{self._name} {self.slider.value() + 1:,} of {self.slider.maximum() + 1:,}")


class ArraysView(QWidget):
    """One array at a time, chosen by its name."""

    frame_wanted = Signal(int, int)
    """Start and size of an earlier record, to be brought and given to `show_values`."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._arrays: dict[str, ArrayHistory] = {}
        self.values: np.ndarray | None = None
        self.chooser = chooser("Array")
        self.about = label(role="small", fluid=True)
        self.as_distribution = QToolButton()
        self.save_picture = tool_button(context.theme.icon("image"), "Save as PNG")
        self.save_table = tool_button(context.theme.icon("download"), "Export the values as CSV")
        self.plane, self.frame = Stepper("Plane"), Stepper("Version")
        self.image = ImageView(context, enlarge=True)
        self.plot = bare_plot("Values")
        self._line = self.plot.plot()
        self._pages = QStackedWidget()
        self._lay_out()
        self._connect()
        self._style()

    def _lay_out(self) -> None:
        self.as_distribution.setIcon(self._context.theme.icon("chart-column"))
        self.as_distribution.setCheckable(True)
        self.as_distribution.setToolTip("How the values are distributed")
        self.as_distribution.setAccessibleName("How the values are distributed")
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.setSpacing(4)
        bar.addWidget(self.chooser)
        bar.addWidget(self.about, 1)
        for button in (self.as_distribution, self.save_picture, self.save_table):
            bar.addWidget(button)
        self._pages.addWidget(self.image)
        self._pages.addWidget(self.plot)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self._pages, 1)
        column.addWidget(self.plane)
        column.addWidget(self.frame)
        self._pages.setMinimumHeight(220)

    def _connect(self) -> None:
        self.chooser.currentTextChanged.connect(self._chosen)
        self.as_distribution.toggled.connect(self._draw)
        self.plane.moved.connect(self._draw)
        self.frame.moved.connect(self._frame_chosen)
        self.save_picture.clicked.connect(self._ask_picture)
        self.save_table.clicked.connect(self._ask_table)
        self._context.theme.changed.connect(self._style)

    # --- what is shown

    def show_arrays(self, arrays: dict[str, ArrayHistory]) -> None:
        """Show these arrays as they are now."""
        self._arrays = arrays
        known = [self.chooser.itemText(at) for at in range(self.chooser.count())]
        if known != list(arrays):
            chosen = self.chooser.currentText()
            self.chooser.blockSignals(True)
            self.chooser.clear()
            self.chooser.addItems(list(arrays))
            self.chooser.setCurrentIndex(max(0, list(arrays).index(chosen) if chosen in arrays else 0))
            self.chooser.blockSignals(False)
        self._refresh(follow=True)

    def show_values(self, start: int, values: np.ndarray) -> None:
        """Show an earlier version, if it is still the chosen one."""
        history = self._history()
        at = self.frame.slider.value()
        if history is not None and at < len(history.frames) and history.frames[at][0] == start:
            self._show(values)

    def _history(self) -> ArrayHistory | None:
        return self._arrays.get(self.chooser.currentText())

    def _chosen(self) -> None:
        self.frame.slider.setValue(self.frame.slider.maximum())
        self._refresh(follow=True)

    def _refresh(self, *, follow: bool) -> None:
        history = self._history()
        if history is None:
            return
        self.frame.offer(len(history.frames), follow=follow)
        if self.frame.at_end:
            self._show(history.newest.values)

    def _frame_chosen(self, at: int) -> None:
        history = self._history()
        if history is None:
            return
        if self.frame.at_end:
            self._show(history.newest.values)
        elif at < len(history.frames):
            self.frame_wanted.emit(*history.frames[at])

    def _show(self, values: np.ndarray) -> None:
        if values is not self.values:
            self.values = values
            self.plane.offer(planes_of(values), follow=False)
            self._draw()

    def _draw(self) -> None:
        if self.values is None:
            return
        plane = plane_of(self.values, self.plane.slider.value())
        extent = extent_of(plane)
        size = " × ".join(f"{one:,}" for one in self.values.shape)
        self.about.setText(size + (f", {extent[0]:.6g} to {extent[1]:.6g}" if extent else ", no numbers"))
        if self.as_distribution.isChecked():
            edges, counts = distribution(plane)
            self._line.setData(edges, counts, stepMode="center", fillLevel=0, brush=self._fill())
        elif plane.ndim == 1:
            x, y = thinned(np.arange(len(plane), dtype=float), plane.astype(float), max(200, self.width()))
            self._line.setData(x, y, stepMode=None, fillLevel=None, connect="finite")
        else:
            self.image.show_image(image_of(plane))
            self._pages.setCurrentWidget(self.image)
            return
        self.plot.setLabel("bottom", "value" if self.as_distribution.isChecked() else "index")
        self._pages.setCurrentWidget(self.plot)

    def _fill(self) -> Any:
        color = self._context.theme.color("series-1")
        color.setAlpha(60)
        return pg.mkBrush(color)

    def _style(self) -> None:
        style_plot(self.plot, self._context.theme)
        self._line.setPen(pen(self._context.theme, 0, 0))
        self._draw()

    # --- export

    def _ask_picture(self) -> None:
        name = f"{self.chooser.currentText() or 'array'}.png".replace("/", "-")
        ask_where(self.window(), "Save the array", self.write_picture, name=name, suffix="png")

    def write_picture(self, path: Path) -> None:
        """Save what is shown: each value a pixel, or the plot."""
        self._context.run(self._write_picture(path), f"writing {path}")

    async def _write_picture(self, path: Path) -> None:
        shown = self._pages.currentWidget()
        content = self.image.canvas.image if shown is self.image else self.plot.grab().toImage()
        if not content.save(str(path)):
            raise not_saved("The array", path, OSError("the file cannot be written"))
        self._context.notify(Notice(f"Wrote the array to {path}.", Tone.GOOD))

    def _ask_table(self) -> None:
        export(self._context, self.window(), "values", "row", self.gather)

    async def gather(self) -> Written:
        """The values of the plane that is shown."""
        return table_of(plane_of(self.values, self.plane.slider.value()) if self.values is not None else None)


def table_of(plane: np.ndarray | None) -> Written:
    """Values as rows and columns; the parts of a color stand in columns of their own."""
    if plane is None:
        return Written([], [])
    flat = plane.reshape(len(plane), -1)
    rows: Callable[[], Sequence[Any]] = flat.tolist
    return Written([f"{number}" for number in range(flat.shape[1])], rows())
