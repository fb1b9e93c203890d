"""The jobs page: query line, table, and what stands in their place when there is nothing to show."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QMenu, QStackedLayout, QVBoxLayout, QWidget

from app import units
from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.outside.list import OutsideList
from app.jobs.query_bar import QueryBar
from app.jobs.table import JobsTable
from app.jobs.view import JobsView, Pulse
from app.stores.alike import alike, alike_in_slices
from app.stores.slices import SLICE
from app.widgets.column_choice import ColumnChoice
from app.widgets.list_state import ListState, explain_link
from broker_core.jobs.query import JobQuery

if TYPE_CHECKING:
    from app.context import AppContext

_RETELL_MS = 300
"""Between a change of jobs and a look at what is selected."""


class JobsPane(QWidget):
    """Everything between the live rows and the reader's eye."""

    inspects = True
    """The inspector belongs beside it."""
    chosen = Signal(list)
    """Ids of the selected jobs."""
    opened = Signal(str)
    """A job to be opened in a tab of its own."""
    counted = Signal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Jobs and their filter")
        self._context = context
        self.table = JobsTable(context.jobs, context.sites.unheard, context.link.known_until)
        self.view = JobsView(context.theme, self.table)
        self.bar = QueryBar(context.theme, lambda: [tag for tag, _ in context.jobs.tags_in_use()])
        self.state = ListState(context.theme)
        titles = [column.title for column in COLUMNS]
        self.columns = ColumnChoice(self.view, list(BY_NAME), titles, "name", context.preferences, "columns")
        self.outside = OutsideList(context)
        self._filling = False
        self._building: asyncio.Future[None] | None = None
        self._telling: asyncio.Future[None] | None = None
        self._reported: list[str] = []
        self._retell = QTimer(self, interval=_RETELL_MS, singleShot=True)
        self._retell.timeout.connect(self._tell_again)
        self._lay_out()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._restore_columns()
        self._connect()
        self.pulse = Pulse(context, self.view)
        self._dress()
        self._refresh()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        self.stack = QStackedLayout()
        self.stack.addWidget(self.view)
        self.stack.addWidget(self.state)
        self.stack.addWidget(self.outside)
        column.addLayout(self.stack, 1)
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def _connect(self) -> None:
        self._context.jobs.changed.connect(self._changed)
        self._context.jobs.clearing.connect(self.table.view.empty)
        self._context.jobs.loaded.connect(self._loaded)
        self._context.link.changed.connect(self._refresh)
        self._context.sites.changed.connect(self._sites_changed)
        self._context.theme.changed.connect(self._dress)
        self.bar.changed.connect(self._query)
        self.outside.chosen.connect(self.chosen)
        self.outside.changed.connect(self._refresh)
        self.view.selected.connect(self._selected)
        self.view.resized.connect(self._fill)
        self.view.opened.connect(self.opened)
        self.view.batch_opened.connect(self._context.show_batch)
        self.view.customContextMenuRequested.connect(self._menu)
        header = self.view.horizontalHeader()
        header.sortIndicatorChanged.connect(self._sort)
        header.customContextMenuRequested.connect(lambda at: self.choose_columns(header.mapToGlobal(at)))
        header.sectionResized.connect(self._resized)
        header.sectionMoved.connect(self._resized)
        self._second = QTimer(self, interval=1000)
        self._second.timeout.connect(self._tick)
        self._second.start()

    def _dress(self) -> None:
        self.view.set_compact(self._context.preferences["compact"])

    def restore(self) -> None:
        """Show columns, order and rows as the preferences say, after they came from elsewhere."""
        self._filling = True
        self._restore_columns()
        self._filling = False
        self._dress()
        self._rebuild()

    # --- live rows

    def _changed(self, ids: set[str]) -> None:
        if not ids:
            self._rebuild()
            return
        columns, at = self._context.jobs.columns, self._context.jobs.at
        batches = {columns["batch"][at[job]] for job in ids if job in at}
        self.table.view.take(ids)
        self._touch_window(ids | batches)
        if self._reported and not self._retell.isActive():
            self._retell.start()
        self._refresh()

    def _touch_window(self, ids: set[str] | None = None) -> None:
        first, last = self.view.window_lines()
        if first > last:
            return
        if ids is None or any(self.table.id_at(line) in ids for line in range(first, last + 1)):
            self.table.touch(first, last)
            self._fill()

    def ids_of_query(self) -> list[str]:
        """Ids of all jobs of the query, in the order of the table."""
        ids = self._context.jobs.columns["id"]
        return [ids[number] for number in self.table.view.numbers()]

    def on_screen(self) -> list[str]:
        """Ids of the jobs, and of the batches, whose lines can be seen."""
        first, last = self.view.window_lines()
        return [self.table.id_at(line) for line in range(first, last + 1)] if self.view.isVisible() else []

    def _tick(self) -> None:
        self.table.view.tick()
        if self.isVisible() and len(self._context.jobs):
            self._fill()
            self.view.viewport().update()

    def _sites_changed(self) -> None:
        """Jobs at a site that fell silent, or is heard again, look different."""
        self.table.forget_tallies()
        self.view.viewport().update()
        self._tell_rows(self.view.chosen())

    def _loaded(self) -> None:
        if (self.table.view.sort, self.table.view.descending) != ("submitted", True):
            self._rebuild()
        else:
            self.table.view.unfold_again()
        self._refresh()

    # --- query and order

    def _query(self, query: JobQuery) -> None:
        self.table.view.query = query
        self._context.preferences["query"] = query.text
        self.outside.show_query(query)
        self._rebuild()

    def _sort(self, section: int, order: Qt.SortOrder) -> None:
        name, descending = COLUMNS[section].name, order is Qt.SortOrder.DescendingOrder
        self.table.view.sort, self.table.view.descending = name, descending
        self._context.preferences["sort"] = [name, descending]
        self._rebuild()

    def _rebuild(self) -> None:
        if self._building is not None:
            self._building.cancel()
        self._building = self._context.run(self._build(), "ordering the jobs")

    async def _build(self) -> None:
        await self.table.view.rebuild()
        self.view.contents.forget()
        self._fill()
        self._refresh()

    # --- what is shown

    def _refresh(self) -> None:
        link, shown = self._context.link, len(self.table.view)
        self.view.delegate.gray = not link.up
        total = self._context.jobs.shown
        self.bar.count.setText(
            units.count(total, "job") if shown == total else f"{shown:,} of {units.count(total, 'job')}"
        )
        self.counted.emit()
        self._show_tags()
        if self.table.view.query.outside:
            self.bar.count.setText(self.outside.count)
            self.stack.setCurrentWidget(self.outside)
        elif shown:
            self.stack.setCurrentWidget(self.view)
            if self.hasFocus():
                self.view.setFocus()
        else:
            self._explain()
            self.stack.setCurrentWidget(self.state)

    def _show_tags(self) -> None:
        """While there are tags their column stands where waiting times do, unless the user chose the columns:
        for both there is no room in a usual window."""
        tagged = self._context.jobs.tagged
        if not self.columns.made and tagged == self.view.isColumnHidden(BY_NAME["tags"]):
            self._filling = True
            self.view.setColumnHidden(BY_NAME["tags"], not tagged)
            self.view.setColumnHidden(BY_NAME["wait"], tagged)
            self._filling = False
            self._fill()

    def _explain(self) -> None:
        trigger = self._context.trigger
        if len(self._context.jobs):
            self.state.show_state(
                "list-filter", "No job matches", "None of your jobs fits this query.",
                ("Show all jobs", lambda: self.bar.show_text("")),
            )  # fmt: skip
        elif not self._context.link.up:
            explain_link(self.state, self._context)
        elif not self._context.jobs.complete:
            self.state.show_state("loader-circle", "Loading your jobs", "The newest come first.")
        else:
            self.state.show_state(
                "rocket", "No jobs yet",
                "Jobs that you submit appear here and are kept until you remove them. "
                "Start with a sample, or drop a description, a script or a program onto this window.",
                ("Run a script…", lambda: trigger("file.run")),
                ("Run a sample…", lambda: trigger("file.sample")),
            )  # fmt: skip

    # --- selection

    def _selected(self) -> None:
        if self.table.view.query.outside:
            return
        ids = self.view.chosen()
        self._tell_rows(ids)
        self.chosen.emit(ids)

    def _tell_rows(self, ids: list[str]) -> None:
        context = self._context
        self._reported = ids
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        if len(ids) <= SLICE:
            context.actions.select(alike(context.jobs, ids, context.sites.unheard))
        else:
            self._telling = context.run(self._tell_many(ids), "looking at what is selected")

    async def _tell_many(self, ids: list[str]) -> None:
        context = self._context
        context.actions.select(await alike_in_slices(context.jobs, ids, context.sites.unheard))

    def _tell_again(self) -> None:
        """Jobs changed: what is selected may be other jobs now, or stand for other actions."""
        ids = self.view.chosen()
        if ids == self._reported:
            self._tell_rows(ids)
        else:
            self._selected()

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context.actions.fill(menu, "job", fitting=True)
        menu.popup(self.view.viewport().mapToGlobal(at))

    # --- columns

    def choose_columns(self, at: QPoint) -> None:
        """Offer all columns in a menu."""
        self.columns.offer(at)

    def _fill(self) -> None:
        """Give every column what it needs, until the user chose widths."""
        if not self.columns.made:
            self.view.contents.fit()

    def _resized(self, *_: int) -> None:
        """The user moved a column or its edge; what the pane does itself is not kept."""
        if not self._filling and not self.view.contents.at_work:
            self.columns.keep()

    def _restore_columns(self) -> None:
        header = self.view.horizontalHeader()
        self.columns.restore()
        name, descending = self._context.preferences["sort"]
        if name in BY_NAME:
            self.table.view.sort, self.table.view.descending = name, descending
        down, up = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
        header.setSortIndicator(BY_NAME[self.table.view.sort], down if self.table.view.descending else up)
