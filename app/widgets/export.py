"""Exporting a table as CSV: ask for a file, write it beside the window's thread, tell how it went."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtWidgets import QToolButton, QWidget

from app import units
from app.context import AppContext, Notice, Tone
from app.widgets.csv_file import Written, write_csv
from app.widgets.save_dialog import ask_where, not_saved

Gather = Callable[[], Awaitable[Written]]
"""Returns what the table has now."""


def export(context: AppContext, window: QWidget, name: str, one: str, gather: Gather) -> None:
    """Ask for a file for the table `name` (jobs, resources...; `one` names a row), then write it."""

    def save(path: Path) -> None:
        export_to(context, path, one, gather)

    ask_where(window, f"Export {name} as CSV", save, name=f"{name.replace(' ', '-')}.csv", suffix="csv")


def export_to(context: AppContext, path: Path, one: str, gather: Gather) -> None:
    """Write a table to a file."""
    context.run(_export(context, path, one, gather), f"writing {path}")


async def _export(context: AppContext, path: Path, one: str, gather: Gather) -> None:
    table = await gather()
    try:
        number = await asyncio.to_thread(write_csv, path, table)
    except OSError as error:
        raise not_saved("The table", path, error) from error
    context.notify(Notice(f"Wrote {units.count(number, one)} to {path}.", Tone.GOOD))


class ExportButton(QToolButton):
    """Beside a table: exports what the table has."""

    def __init__(self, context: AppContext, name: str, one: str, gather: Gather) -> None:
        super().__init__()
        self._context, self._one, self._gather = context, one, gather
        self.setIcon(context.theme.icon("download", "muted"))
        self.setToolTip(f"Export {name} as CSV")
        self.setAccessibleName(f"Export {name} as CSV")
        self.clicked.connect(lambda: export(context, self.window(), name, one, gather))

    def save(self, path: Path) -> None:
        """Write the table to a file that was chosen."""
        export_to(self._context, path, self._one, self._gather)
