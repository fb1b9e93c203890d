"""A picture of the window once its data are shown."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.shell.window import MainWindow

_PLACES = {"sites": "view.sites", "statistics": "view.statistics", "welcome": "view.welcome",
           "help": "help.contents"}  # fmt: skip
_PATIENCE, _CALM = 30.0, 0.7
"""Seconds to wait for the data, and for the views to settle after them."""


async def save(window: MainWindow, options: argparse.Namespace) -> int:
    """Wait until rows (and the job asked for) are shown, save the picture; 1 if they did not come."""
    shown = await _shown(window, options.job)
    if options.job and shown:
        window.context.show_job(options.job, "" if options.view in _PLACES else options.view)
    if options.view in _PLACES:
        window.context.trigger(_PLACES[options.view])
    await asyncio.sleep(_CALM)
    options.screenshot.parent.mkdir(parents=True, exist_ok=True)
    saved = window.grab().save(str(options.screenshot))
    if not saved:
        sys.stderr.write(f"The picture cannot be written to {options.screenshot}.\n")
    if not shown:
        sys.stderr.write("The broker or the job did not come in time; the picture shows what there was.\n")
    return 0 if saved and shown else 1


async def _shown(window: MainWindow, job: str) -> bool:
    deadline = time.monotonic() + _PATIENCE
    rows = window.context.jobs
    while time.monotonic() < deadline:
        if rows.complete and (not job or job in rows.at) and not window.jobs.table.view.working:
            return True
        await asyncio.sleep(0.05)
    return False
