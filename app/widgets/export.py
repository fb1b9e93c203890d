"""Exporting a table as CSV: ask for a file, write it beside the window's thread, tell how it went."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractItemView, QTableView, QToolButton, QTreeView, QWidget

from app import units
from app.context import AppContext, Notice, Tone
from app.widgets.csv_file import Written, write_csv
from app.widgets.save_dialog import ask_where, not_saved

_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
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


def offer_export(context: AppContext, view: QAbstractItemView, name: str, one: str) -> None:
    """Put the export of a table, as it is shown, into its context menu (CB-UI-15); see `export`."""

    async def gather() -> Written:
        return as_shown(view)

    offer_gathered(context, view, name, one, gather)


def offer_gathered(context: AppContext, view: QWidget, name: str, one: str, gather: Gather) -> None:
    """The same for what does not show all that is worth writing, or is no table."""
    action = QAction(context.theme.icon("download", "muted"), f"Export {name} as CSV…", view)
    action.triggered.connect(lambda: export(context, view.window(), name, one, gather))
    view.addAction(action)
    view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)


def as_shown(view: QAbstractItemView) -> Written:
    """The texts of a table, with the names of its rows where those are shown; hidden columns are left out."""
    model = view.model()
    named = isinstance(view, QTableView) and not view.verticalHeader().isHidden()
    hidden = view.isColumnHidden if isinstance(view, QTableView | QTreeView) else lambda column: False
    columns = [column for column in range(model.columnCount()) if not hidden(column)]
    across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    header = [str(model.headerData(column, across) or "") for column in columns]
    rows = []
    for row in range(model.rowCount()):
        cells = [_text(model.index(row, column).data()) for column in columns]
        rows.append([_text(model.headerData(row, down)), *cells] if named else cells)
    return Written(["", *header] if named else header, rows)


def _text(shown: object) -> str:
    """Numbers without the commas that part thousands."""
    text = "" if shown is None else str(shown)
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
