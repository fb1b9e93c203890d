"""The jobs table over jobs that were submitted outside CrossDesk; each row says so."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from app import units
from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.table import JobsTable
from app.jobs.view import JobsView
from app.widgets.export import offer_export
from app.widgets.labels import give_way, label
from app.widgets.list_state import ListState, explain_link
from app.widgets.state_style import StateShape, StateStyle, style_of
from broker_core.client.printable import printable
from broker_core.jobs.query import JobQuery
from broker_core.wire.outside_columns import UNKNOWN

if TYPE_CHECKING:
    from app.context import AppContext

_SHOWN = ("state", "name", "site", "cpus", "submitted", "runtime", "reason")
_LEAST = 90
"""Pixels that a column asks for at most: the reason takes what is left."""
_ASK_MS = 15_000
"""Between two questions to the broker while the table is seen; it asks sites less often."""
_ENDED = StateStyle(StateShape.QUESTION, "state-Unheard", "Ended")


def style_of_outside(row: Mapping[str, Any]) -> StateStyle:
    """Our word for how such a job stands, with the batch system's own behind it."""
    if row["state"] == UNKNOWN:
        return _ENDED
    return replace(style_of(row["state"], row["exit_code"]), more=printable(row["word"]))


class OutsideTable(JobsTable):
    """The model of such jobs."""

    def style_of(self, line: int) -> StateStyle:
        """With the batch system's own word."""
        return style_of_outside(self.rows.by_number(self.view.lines[line]))

    def text(self, line: int, column: int) -> str:
        """Texts of others, made fit to be shown; the site's name tells where they are from."""
        shown = printable(super().text(line, column))
        return f"{shown} · outside" if column == BY_NAME["site"] else shown


class OutsideList(QWidget):
    """The table, or why it is empty; the batch systems are asked while it is seen."""

    chosen = Signal(list)
    """Keys of the selected ones."""
    changed = Signal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.outside
        self.table = OutsideTable(context.outside.rows, lambda ces: None, context.link.known_until)
        self.view = JobsView(context.theme, self.table)
        self.view.setAccessibleName("Jobs outside CrossDesk")
        self.view.setDragEnabled(False)
        offer_export(context, self.view, "jobs outside", "job")
        self.state, self.note = ListState(context.theme), label(role="muted", wrap=True)
        self._building: asyncio.Future[None] | None = None
        self._lay_out()
        self._store.rows.changed.connect(self._rows_changed)
        self._store.rows.clearing.connect(self.table.view.empty)
        self.view.selected.connect(lambda: self.chosen.emit(self.view.chosen()))
        self.view.resized.connect(self.view.contents.fit)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._sort)
        context.link.changed.connect(self._refresh)
        self._asking = QTimer(self, interval=_ASK_MS)
        self._asking.timeout.connect(self._store.reload)
        self._second = QTimer(self, interval=1000)
        self._second.timeout.connect(self._tick)
        self._refresh()

    def _lay_out(self) -> None:
        for number, column in enumerate(COLUMNS):
            self.view.setColumnHidden(number, column.name not in _SHOWN)
        least = [min(column.width, _LEAST) for column in COLUMNS]
        self.view.contents.declare(least, BY_NAME["reason"])
        self.view.horizontalHeader().setSortIndicator(BY_NAME["submitted"], Qt.SortOrder.DescendingOrder)
        give_way(self.note)
        self.note.setContentsMargins(12, 4, 12, 8)
        holder = QWidget()
        self._stack = QStackedLayout(holder)
        self._stack.addWidget(self.view)
        self._stack.addWidget(self.state)
        column_ = QVBoxLayout(self)
        column_.setContentsMargins(0, 0, 0, 0)
        column_.setSpacing(0)
        column_.addWidget(self.note)
        column_.addWidget(holder, 1)

    @property
    def count(self) -> str:
        """How many are shown, in words."""
        shown, total = len(self.table.view), len(self._store.rows)
        jobs = units.count(total, "job")
        return f"{jobs} outside" if shown == total else f"{shown:,} of {jobs} outside"

    def show_query(self, query: JobQuery) -> None:
        """Show those that fit a query."""
        self.table.view.query = query
        self._rebuild()

    def showEvent(self, event: QShowEvent) -> None:
        """Somebody looks."""
        super().showEvent(event)
        self._store.watch(True)
        self._asking.start()
        self._second.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks any more."""
        super().hideEvent(event)
        self._store.watch(False)
        self._asking.stop()
        self._second.stop()

    def _tick(self) -> None:
        self.table.view.tick()
        self.view.viewport().update()

    def _rows_changed(self, ids: set[str]) -> None:
        if not ids:
            self._rebuild()
            return
        self.table.view.take(ids)
        self.table.touch(0, len(self.table.view.lines) - 1)
        self._refresh()

    def _sort(self, section: int, order: Qt.SortOrder) -> None:
        self.table.view.sort = COLUMNS[section].name
        self.table.view.descending = order is Qt.SortOrder.DescendingOrder
        self._rebuild()

    def _rebuild(self) -> None:
        if self._building is not None:
            self._building.cancel()
        self._building = self._context.run(self._build(), "ordering the jobs outside CrossDesk")

    async def _build(self) -> None:
        await self.table.view.rebuild()
        self.view.contents.forget()
        self._refresh()

    def _refresh(self) -> None:
        store = self._store
        silent = [f"{site} could not be asked: {printable(why)}" for site, why in store.silent.items()]
        self.note.setText("\n".join(silent))
        self.note.setVisible(bool(silent))
        self.view.delegate.gray = not self._context.link.up
        if len(self.table.view):
            self.view.contents.fit()
            self._stack.setCurrentWidget(self.view)
        else:
            self._explain()
            self._stack.setCurrentWidget(self.state)
        self.changed.emit()

    def _explain(self) -> None:
        if not self._context.link.up:
            explain_link(self.state, self._context)
        elif self._store.error:
            self.state.show_state("circle-alert", "They cannot be shown", self._store.error)
        elif len(self._store.rows):
            self.state.show_state(
                "list-filter", "No job matches", "No job outside CrossDesk fits this query."
            )
        else:
            self.state.show_state(
                "external-link", "No jobs outside CrossDesk",
                "Jobs of your accounts that were submitted by other means, such as sbatch or qsub, appear "
                "here while they wait and run, and for a day after their end. Each site can be left out in "
                "its settings.",
            )  # fmt: skip
