"""Making the plot of a history without stopping the window: pyqtgraph is heavy to import and to make."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from app.stores.slices import breathe
from app.widgets import qt_types

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from app.widgets.plots.history_plot import HistoryPlot, Series


async def make_history_plot(theme: Theme, series: Series, digits: int = 0) -> HistoryPlot:
    """Import what a plot needs, then make it step by step, with time for the window in between.

    `digits`: see `HistoryPlot`.
    """
    for _ in qt_types.in_steps():
        await breathe()
    history = await asyncio.to_thread(import_module, "app.widgets.plots.history_plot")
    axis = history.time_axis()
    await breathe()
    canvas = history.HistoryCanvas(axis)
    await breathe()
    made: HistoryPlot = history.HistoryPlot(theme, series, canvas, digits)
    await breathe()
    return made
