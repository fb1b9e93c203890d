"""Plots of a site's queue: numbers are kept until the next was taken, and no tick stands at half a job."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from app.sites.card import QueueSpark
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.plots.bar_plot import whole_ticks
from app.widgets.plots.history_plot import HistoryCanvas, HistoryPlot, time_axis
from tests.app.sites.made_up import site


def test_ticks_of_counts_are_whole(qapp: QApplication) -> None:
    for most in (1, 2, 3, 10, 47, 1000):
        step, offset = whole_ticks(0, most, 150)[0]
        assert (step % 1, offset) == (0, 0)
        assert most / step <= 12


def test_a_span_of_seconds_tells_hours_and_minutes_too(qapp: QApplication) -> None:
    axis = time_axis()
    plot = HistoryCanvas(axis)
    plot.resize(600, 150)
    for span in (2.0, 10.0, 50.0):
        plot.box.setXRange(0.0, span)
        plot.grab()
        assert {len(words) for words in axis.tickStrings([0.0, 5.0], 1, 1)} == {len("06:19:05")}, span


def test_lines_step_from_number_to_number(qapp: QApplication) -> None:
    theme = Theme(qapp, Mode.LIGHT)
    plot = HistoryPlot(theme, (("running", "series-1"), ("queued", "series-2")), HistoryCanvas(time_axis()))
    plot.show_history([0.0, 60.0, 120.0], [0, 2, 2], [1, 0, 0])
    path = plot.curves[0].getPath()
    points = [(path.elementAt(at).x, path.elementAt(at).y) for at in range(path.elementCount())]
    assert (60.0, 0.0) in points
    assert (60.0, 2.0) in points
    spark = QueueSpark(theme)
    spark.resize(120, 44)
    spark.show_site(site("a", times=[0.0, 60.0, 120.0], history_running=[0, 2, 2], history_queued=[0, 0, 0]))
    picture = spark.grab().toImage()
    ground = picture.pixelColor(QPoint(30, 20))
    assert {picture.pixelColor(QPoint(x, 20)).rgb() for x in range(5, 55)} == {ground.rgb()}
    assert picture.pixelColor(QPoint(90, 20)) != ground
