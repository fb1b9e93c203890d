"""The slots view (CB-UI-10): glideins with their two slots, the life of the chosen one, the last day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.resources.slots import words
from app.resources.slots.lives import SlotLives
from app.resources.slots.table import BATCH, FOR, INTERACTIVE, SlotTable
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_error, explain_link
from app.widgets.plots.deferred_plot import make_history_plot
from app.widgets.table import RowTable

if TYPE_CHECKING:
    from app.context import AppContext
    from app.widgets.plots.history_plot import HistoryPlot
    from broker_core.wire.slots import SlotsView

_SECOND_MS = 1000
_SERIES = (("slots there", "series-2"), ("slots in use", "series-1"))
_LOW = 420
"""Pixels of height below which the plot is left out."""
_HOW = 'Name the site in broker.toml, as in glideins = ["cluster"], and start the broker again.'


class SlotsPane(QWidget):
    """Shows what the store of slots holds; that follows the broker by itself."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context, self._store = context, context.slots
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.state, self.calm = ListState(context.theme), ListState(context.theme)
        self.headline, self.day = label(role="title", fluid=True), label(role="muted")
        self.table, self.view = SlotTable(self), RowTable(context.theme, "Glideins and their slots")
        self.export = ExportButton(context, "slots", "glidein", self._csv)
        self.lives = SlotLives(context.theme)
        self.plot: HistoryPlot | None = None
        self._making = False
        self._make_table()
        self._lay_out()
        self._connect()
        self._show()

    # --- making

    def _make_table(self) -> None:
        self.view.setModel(self.table)
        self.view.widths(84, 80, 64, 72, 120, 120, 64, 64, stretched=INTERACTIVE)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 12, 12, 8)
        head.setSpacing(12)
        head.addWidget(self.headline, 1)
        head.addWidget(self.day)
        head.addWidget(self.export)
        self.either = QStackedWidget()
        self.either.addWidget(self.view)
        self.either.addWidget(self.calm)
        self.page = QWidget()
        self._column = QVBoxLayout(self.page)
        self._column.setContentsMargins(0, 0, 0, 8)
        self._column.setSpacing(0)
        self._column.addLayout(head)
        self._column.addWidget(self.either, 1)
        beside = QHBoxLayout()
        beside.setContentsMargins(12, 8, 12, 8)
        beside.addWidget(self.lives)
        self._column.addLayout(beside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.page)
        column.addWidget(self.state)

    def _connect(self) -> None:
        self._store.changed.connect(self._show)
        self.view.chosen.connect(lambda _: self._choose())
        self.view.opened.connect(self._open)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self.view.viewport().update)

    async def _csv(self) -> Written:
        return self.table.csv()

    # --- doing

    def showEvent(self, event: QShowEvent) -> None:
        """Ask how things stand now."""
        super().showEvent(event)
        self._second.start()
        self._show()
        self._store.reload()

    def hideEvent(self, event: QHideEvent) -> None:
        """Count nothing down for nobody."""
        super().hideEvent(event)
        self._second.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low page leaves its room to the table."""
        super().resizeEvent(event)
        self._fit()

    def _open(self, row: int) -> None:
        """Show the story of the job in the column in which the keyboard is, else of the one it is for."""
        one, column = self.table.at(row), self.view.currentIndex().column()
        if one is not None:
            slot = {BATCH: 0, INTERACTIVE: 1}.get(column)
            job = one.originator if slot is None or column == FOR else one.slots[slot].job
            if job := job or one.originator:
                self._context.show_job(job, "story")

    # --- what is shown

    def _show(self) -> None:
        view, link = self._store.view, self._context.link
        self.view.cells.gray = not link.up
        known = view is not None and self._store.on
        self.page.setVisible(known)
        self.state.setVisible(not known)
        if view is not None and known:
            self._show_view(view)
        elif not link.up:
            explain_link(self.state, self._context)
        elif self._store.error:
            explain_error(self.state, "The slots", self._store.error, self._store.reload)
        elif view is None:
            self.state.show_state(
                "loader-circle", "Asking for the slots", "Glideins and their slots come next."
            )
        else:
            self._explain_off()

    def _explain_off(self) -> None:
        self.state.show_state(
            "rows-2", "Virtual slots are off",
            "With them your batch jobs leave a second slot on each CPU that they have, in which an "
            f"interactive job starts at once although the site is full. {_HOW}",
            ("How it works", lambda: self._context.show_help("slots")),
        )  # fmt: skip

    def _show_view(self, view: SlotsView) -> None:
        chosen = self.table.at(self.view.row())
        self.table.ahead = self._store.ahead
        self.table.show_slots(view)
        self.headline.setText(words.headline(view))
        self.day.setText(words.day_sentence(view))
        self.either.setCurrentWidget(self.view if view.glideins else self.calm)
        self.calm.show_state(
            "rows-2", "No glidein now",
            f"One starts with the next sequential batch job at {' or '.join(view.sites)}: with two slots.",
        )  # fmt: skip
        row = self.table.row_of(chosen.id) if chosen is not None else 0
        if view.glideins and self.view.row() != max(row, 0):
            self.view.selectRow(max(row, 0))
        self._choose()
        if self.isVisible():
            self._context.run(self._show_history(view), "drawing the slots of the day")

    def _choose(self) -> None:
        self.lives.show_glidein(self.table.at(max(0, self.view.row())))
        self.lives.setVisible(bool(self.lives.lines))

    async def _show_history(self, view: SlotsView) -> None:
        day = view.history
        if len(day.times) < 2:
            return
        if self.plot is None and not self._making:
            self._making = True
            self.plot = await make_history_plot(self._context.theme, _SERIES)
            self.plot.setContentsMargins(12, 0, 0, 0)
            self._column.addWidget(self.plot)
            self._fit()
        if self.plot is not None and view is self._store.view:
            self.plot.show_history(day.times, day.there, day.used)

    def _fit(self) -> None:
        if self.plot is not None:
            self.plot.setVisible(self.height() >= _LOW)
