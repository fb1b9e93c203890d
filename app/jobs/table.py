"""The model of the jobs table: rows of the live store, chosen, ordered and folded by row numbers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QMimeData,
    QModelIndex,
    Qt,
    QTimer,
    Signal,
)

from app import units
from app.jobs import folding
from app.jobs.batch_cells import CELLS, batch_key, members, progress, tips
from app.jobs.batch_totals import BatchBook, BatchTotals, Unheard
from app.jobs.columns import BY_NAME, COLUMNS, style_of_number
from app.jobs.dragging import pack
from app.jobs.folding import FoldedBatch
from app.jobs.view_list import ViewList
from app.stores.jobs import JobStore
from app.widgets.state_style import AT_SITE, UNHEARD, StateStyle
from app.widgets.table import LEFT, NOWHERE, RIGHT, Index

_FLAGS = (
    Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemIsDragEnabled
    | Qt.ItemFlag.ItemNeverHasChildren
)
"""Combined once: the view asks for every cell that it paints."""


class JobsTable(QAbstractTableModel):
    """Shows a ViewList. It computes nothing about jobs: texts come from columns.py, faces from the theme."""

    rebuilt = Signal()
    """The whole view was replaced: selection and scroll are the view's to restore."""

    def __init__(
        self,
        rows: JobStore,
        unheard: Unheard = lambda ces: None,
        known_until: Callable[[float], float] = lambda now: now,
    ) -> None:
        """`unheard`: since when a site is not heard from; `known_until`: until when the broker was."""
        super().__init__()
        self.rows, self._unheard, self._broker_known = rows, unheard, known_until
        self.view = ViewList(rows, self)
        self._tallies: dict[str, Counter[str]] = {}
        self.book = BatchBook(rows)
        self._counting = QTimer(self, interval=0)
        self._counting.timeout.connect(self._count_on)
        rows.changed.connect(self._follow)
        rows.clearing.connect(self.book.clear)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Lines shown: jobs and batches."""
        return 0 if parent.isValid() else len(self.view.lines)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        """All columns, hidden ones included."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles; numbers stand right."""
        if orientation is not Qt.Orientation.Horizontal or section >= len(COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if COLUMNS[section].right else LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, tooltip, alignment, accessible text; UserRole is the job's id (the batch's for a batch)."""
        line, column = index.row(), index.column()
        if not 0 <= line < len(self.view.lines):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.text(line, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(line, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if COLUMNS[column].right else LEFT
        if role == Qt.ItemDataRole.UserRole:
            return self.id_at(line)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Lines can be dragged, onto a site."""
        return _FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """What a drag of lines carries: the ids of their jobs."""
        lines = sorted({index.row() for index in indexes})
        return pack(list(dict.fromkeys(job for line in lines for job in self.ids_at(line))))

    def supportedDragActions(self) -> Qt.DropAction:
        """Nothing moves out of the table."""
        return Qt.DropAction.CopyAction

    def batch_at(self, line: int) -> FoldedBatch | None:
        """The batch of a line, or None if it is a job."""
        entry = self.view.lines[line]
        return self.view.batches[-1 - entry] if entry < 0 else None

    def id_at(self, line: int) -> str:
        """Id of the job or batch of a line."""
        batch = self.batch_at(line)
        return batch.id if batch else self.rows.columns["id"][self.view.lines[line]]

    def ids_at(self, line: int) -> list[str]:
        """Ids of the jobs a line stands for."""
        batch = self.batch_at(line)
        numbers = batch.rows if batch else [self.view.lines[line]]
        ids = self.rows.columns["id"]
        return [ids[number] for number in numbers]

    def inside(self, line: int) -> bool:
        """True if the line is a job below its unfolded batch."""
        entry = self.view.lines[line]
        return entry >= 0 and self.view.batch_of(entry) is not None

    def style_of(self, line: int) -> StateStyle:
        """The style of a line's state."""
        batch = self.batch_at(line)
        if batch:
            return folding.style_of_batch(self.tally(batch))
        held, row = self.rows.columns, self.view.lines[line]
        since = self._unheard(held["site"][row])
        shown = style_of_number(held, row, since)
        if since and shown is UNHEARD:
            return replace(shown, more=f"since {units.since(since, self.view.now())}")
        return shown

    def totals(self, batch: FoldedBatch) -> BatchTotals:
        """The sums over all jobs of a batch, shown or not; of a large one they may come in slices."""
        found = self.book.totals(batch.id)
        if self.book.behind and not self._counting.isActive():
            self._counting.start()
        return found

    def _count_on(self) -> None:
        batch = self.book.behind
        if batch:
            self.book.totals(batch)
            self.forget_tallies({batch})
        if not self.book.behind:
            self._counting.stop()
            self.touch(0, len(self.view.lines) - 1)

    def _follow(self, ids: set[str]) -> None:
        if not ids:
            self.book.clear()
            self.forget_tallies()
            return
        self.book.take(ids)
        columns, at = self.rows.columns, self.rows.at
        gone = not ids <= at.keys()
        self.forget_tallies(None if gone else {columns["batch"][at[job]] for job in ids})

    def tally(self, batch: FoldedBatch) -> Counter[str]:
        """Outcomes of a batch's jobs, counted once between two changes."""
        found = self._tallies.get(batch.id)
        if found is None:
            found = self._tallies[batch.id] = self.totals(batch).tally(self._unheard)
        return found

    def progress(self, line: int) -> str:
        """How far the batch of a line is, in words; empty for a job."""
        batch = self.batch_at(line)
        if batch is None:
            return ""
        return progress(self.totals(batch), self.tally(batch), self._broker_known(self.view.now()))

    def text(self, line: int, column: int) -> str:
        """The text of a cell."""
        batch = self.batch_at(line)
        if batch is None:
            row = self.view.lines[line]
            if column == BY_NAME["name"] and self.inside(line):
                return str(self.rows.columns["parameter"][row] or self.rows.columns["name"][row])
            if column == BY_NAME["state"]:
                shown = self.style_of(line)
                return f"{shown.word} {shown.more}".strip()
            return COLUMNS[column].cell(self.rows.columns, row, self._known_until(row))
        return self._batch_text(batch, column)

    def _known_until(self, row: int) -> float:
        """The moment up to which is known how a job stands: now, unless its site or the broker is silent."""
        now, held = self.view.now(), self.rows.columns
        if held["state"][row] not in AT_SITE:
            return now
        since = self._unheard(held["site"][row])
        return self._broker_known(min(now, since) if since else now)

    def _batch_text(self, batch: FoldedBatch, column: int) -> str:
        name, totals = COLUMNS[column].name, self.totals(batch)
        if name == "state":
            return folding.summary(self.tally(batch))
        if name == "name":
            return f"{totals.name}  ·  {members(len(batch.rows), len(totals))}"
        if name == "id":
            return batch.id
        cell = CELLS.get(name)
        return cell(totals, self.view.now()) if cell else ""

    def _tip(self, line: int, column: int) -> str | None:
        batch = self.batch_at(line)
        if batch:
            totals, now = self.totals(batch), self.view.now()
            return tips(totals, COLUMNS[column].name, self.tally(batch), now)
        row = self.view.lines[line]
        since = self._unheard(self.rows.columns["site"][row]) if column == BY_NAME["state"] else None
        if since and self.rows.columns["state"][row] in AT_SITE:
            said = self.rows.columns["state"][row]
            return f"{said} when last heard from, {units.exact(since)}. It may go on there; nothing is lost."
        tip = COLUMNS[column].tip
        return tip(self.rows.columns, self.view.lines[line], time.time()) or None if tip else None

    def forget_tallies(self, batches: set[str] | None = None) -> None:
        """Count the states of these batches anew when they are next painted (None: of all)."""
        if batches is None:
            self._tallies.clear()
        else:
            for name in batches:
                self._tallies.pop(name, None)

    async def count(self, batches: Iterable[str]) -> None:
        """Count these batches to their end, in slices."""
        await self.book.ready(batches)

    def batch_key(self, column: str, batch: str) -> Any:
        """What a batch is ordered by in a column."""
        return batch_key(column, batch, self.book.totals(batch))

    def touch(self, first: int, last: int) -> None:
        """Say that the lines from first to last look different."""
        if 0 <= first <= last < len(self.view.lines):
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(COLUMNS) - 1))

    def splice(self, place: int, out: int, entries: list[int]) -> None:
        """Replace `out` lines at `place` by `entries`, telling the views."""
        lines = self.view.lines
        if out:
            self.beginRemoveRows(NOWHERE, place, place + out - 1)
            del lines[place : place + out]
            self.endRemoveRows()
        if entries:
            self.beginInsertRows(NOWHERE, place, place + len(entries) - 1)
            lines[place:place] = entries
            self.endInsertRows()

    def replace(self, lines: list[int], adopt: Callable[[], None] = lambda: None) -> None:
        """Replace every line at once, and what the entries of the lines stand for."""
        self.beginResetModel()
        adopt()
        self.view.lines = lines
        self.endResetModel()
        self.rebuilt.emit()
