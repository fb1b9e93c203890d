"""Making the plot of a history without stopping the window: pyqtgraph is heavy to import and to make."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from app.model import qt_types
from app.model.slices import breathe

if TYPE_CHECKING:
    from app.context import Theme
    from app.resources.history import HistoryPlot

Series = tuple[tuple[str, str], ...]
"""Name and colour token of each line."""


async def late_plot(theme: Theme, series: Series) -> HistoryPlot:
    """Import what a plot needs, then make it step by step, with time for the window in between."""
    for _ in qt_types.in_steps():
        await breathe()
    history = await asyncio.to_thread(import_module, "app.resources.history")
    axis = history.time_axis()
    await breathe()
    canvas = history.canvas(axis)
    await breathe()
    made: HistoryPlot = history.HistoryPlot(theme, series, canvas)
    await breathe()
    return made
