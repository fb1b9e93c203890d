"""The resources view (CB-UI-09): sources, table or map, and everything about the chosen one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLineEdit,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.resources.columns import BY_NAME, COLUMNS, arranged, ranks, searchable
from app.resources.detail import DetailPane
from app.resources.health import HealthStrip
from app.resources.map_markers import markers
from app.resources.table import ResourcesTable, resources_csv
from app.resources.world import WorldMap
from app.stores.resources import ResourceStore
from app.stores.signals import ResourceSignals
from app.stores.slices import breathe
from app.widgets.column_choice import ColumnChoice
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_error, explain_link
from app.widgets.table import RowTable
from app.widgets.tool_button import tool_button
from app.widgets.turning_splitter import TurningSplitter
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.resources import SourceView

_PAUSE_MS = 120
_SECOND_MS = 1000
_WIDE = 900
"""Pixels from which the details stand beside the table."""


class ResourcesPane(QWidget):
    """Loads when it comes into sight and when the broker says that something changed."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.held = ResourceStore(context, ResourceSignals(self))
        self.table = ResourcesTable(self.held)
        self.view = RowTable(context.theme, "Resources")
        self.map, self.detail = WorldMap(context.theme), DetailPane(context)
        self.health, self.state = HealthStrip(context.theme), ListState(context.theme)
        self.edit, self.count = (
            QLineEdit(placeholderText="Filter resources, e.g. pbs es"),
            label(role="small"),
        )
        self.nothing = label("No resource is left by this filter.", "muted", wrap=True)
        self._texts: list[str] = []
        self._of: Mapping[str, Sequence[Any]] = {}
        self._ranks: dict[str, np.ndarray] = {}
        self._by, self._descending = "site", False
        self._error = ""
        self._arranging: asyncio.Future[None] | None = None
        self._make_table()
        self._lay_out()
        self._connect()
        self._show()

    # --- making

    def _make_table(self) -> None:
        self.view.setModel(self.table)
        self.view.widths(*[column.width for column in COLUMNS], stretched=BY_NAME["site"])
        header = self.view.horizontalHeader()
        header.setSectionsMovable(True)
        header.setSortIndicatorShown(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        for place, column in enumerate(COLUMNS):
            self.view.setColumnHidden(place, not column.shown)
        names, titles = [column.name for column in COLUMNS], [column.title for column in COLUMNS]
        self.columns = ColumnChoice(
            self.view, names, titles, "site", self._context.preferences, "resource_columns"
        )
        self.columns.restore()
        header.setSortIndicator(BY_NAME["site"], Qt.SortOrder.AscendingOrder)

    def _lay_out(self) -> None:
        self.edit.setAccessibleName("Filter resources")
        self.edit.setClearButtonEnabled(True)
        sign = self._context.theme.icon("list-filter", "muted")
        self.edit.addAction(sign, QLineEdit.ActionPosition.LeadingPosition).setToolTip("Filter")
        line = QHBoxLayout()
        line.setContentsMargins(12, 8, 12, 8)
        line.setSpacing(8)
        line.addWidget(self.edit, 1)
        line.addWidget(self.count)
        for button in self._buttons():
            line.addWidget(button)
        self.either = QStackedWidget()
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        for part in (self.view, self.map, self.nothing):
            self.either.addWidget(part)
        self.splitter = TurningSplitter(_WIDE, (620, 380), (500, 500))
        self.splitter.addWidget(self.either)
        self.splitter.addWidget(self.detail)
        self.detail.hide()  # until `_show_in_turns`
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.page = QWidget()
        inside = QVBoxLayout(self.page)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addLayout(line)
        inside.addWidget(self.splitter, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.health)
        column.addWidget(self.page, 1)
        column.addWidget(self.state, 1)

    def _buttons(self) -> list[QToolButton]:
        self._kinds = QButtonGroup(self)
        made: list[QToolButton] = []
        for icon, name in (("table", "table"), ("network", "map")):
            button = QToolButton()
            button.setIcon(self._context.theme.icon(icon))
            button.setCheckable(True)
            button.setToolTip(f"Show as {name}")
            button.setAccessibleName(f"Show as {name}")
            self._kinds.addButton(button, len(made))
            made.append(button)
        made[0].setChecked(True)
        columns = tool_button(self._context.theme.icon("columns-3", "muted"), "Choose columns")
        columns.clicked.connect(lambda: self.columns.offer_below())
        self.export = ExportButton(self._context, "resources", "resource", self._csv)
        return [*made, columns, self.export]

    async def _csv(self) -> Written:
        return resources_csv(self.held.columns, list(self.table.rows()))

    def _connect(self) -> None:
        context, header = self._context, self.view.horizontalHeader()
        self.held.changed.connect(self._loaded)
        self.held.failed.connect(self._failed)
        self.view.chosen.connect(lambda row: self._choose(self.table.ce_at(row)))
        self.map.siteChosen.connect(self._choose_site)
        self.health.refreshAsked.connect(self._refresh)
        self._kinds.idClicked.connect(self._turn)
        header.sortIndicatorChanged.connect(self._sort)
        header.sectionResized.connect(self._keep)
        header.sectionMoved.connect(self._keep)
        header.customContextMenuRequested.connect(lambda at: self.columns.offer(header.mapToGlobal(at)))
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self._arrange)
        self.edit.textChanged.connect(lambda _: self._pause.start())
        context.topics.resources.connect(self._changed)
        context.link.changed.connect(self._linked)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self._tick)
        self._second.start()

    # --- loading

    def showEvent(self, event: QShowEvent) -> None:
        """Load what is known now."""
        super().showEvent(event)
        self.look()

    def look(self) -> None:
        """Ask for everything again."""
        if self._context.link.up:
            self.held.load()
            self._context.run(self._sources(), "asking for the sources of information")
            self.detail.look()

    def _changed(self) -> None:
        if self.isVisible():
            self.look()

    def _linked(self) -> None:
        self.view.cells.gray = not self._context.link.up
        self._show()
        self._changed()

    async def _sources(self) -> None:
        try:
            self.health.show_sources(await self._context.client.sources())
        except CrossDeskError as error:
            self._failed(str(error))

    def _refresh(self, names: list[str]) -> None:
        self._context.run(self._ask_sources(names), "asking the sources again")

    async def _ask_sources(self, names: list[str]) -> None:
        found: list[SourceView] = await self._context.client.refresh_sources(names)
        self.health.show_sources(found)
        self.held.load()

    def _loaded(self) -> None:
        self._error = ""
        self._arrange()

    def _failed(self, said: str) -> None:
        self.show_error(said)

    def show_error(self, error: object) -> None:
        """Show why nothing is known; what is already there stays."""
        self._error = str(error)
        self._show()

    # --- order and filter

    def _sort(self, section: int, order: Qt.SortOrder) -> None:
        column = COLUMNS[section]
        self._by, self._descending = column.by or column.name, order is Qt.SortOrder.DescendingOrder
        self._arrange()

    def _arrange(self) -> None:
        if self._arranging is not None:
            self._arranging.cancel()
        self._arranging = self._context.run(self._order(), "ordering the resources")

    async def _order(self) -> None:
        held = self.held.columns
        if held is not self._of:
            texts = await asyncio.to_thread(searchable, held)
            if held is not self.held.columns:
                return  # newer columns came meanwhile, and their own ordering with them
            self._texts, self._of, self._ranks = texts, held, {}
        by = self._by
        if by not in self._ranks:
            self._ranks[by] = await asyncio.to_thread(ranks, held, by)
        wanted = self.edit.text()
        order = await asyncio.to_thread(arranged, self._ranks[by], self._texts, wanted, self._descending)
        found = await asyncio.to_thread(markers, held, order) if self._mapped else None
        if held is self.held.columns:
            self._arranged(order)
            await breathe()
            await self._show_in_turns()
            if found is not None:
                self.map.show_spots(*found)

    def _arranged(self, order: list[int]) -> None:
        chosen = self.detail.ce
        self.table.arrange(order)
        row = self.table.row_of(chosen) if chosen else 0
        here = self.table.ce_at(self.view.row())
        if row >= 0 and order and (not here or here != chosen):
            self.view.selectRow(row)

    @property
    def _mapped(self) -> bool:
        return self._kinds.checkedId() == 1

    def _turn(self, *_: int) -> None:
        """Show the table or the map, whose places are looked up only while it is shown."""
        self._show()
        if self._mapped:
            self._arrange()

    def _keep(self, *_: int) -> None:
        if self.view.isVisible() and not self.view.contents.at_work:
            self.columns.keep()

    def _tick(self) -> None:
        if self.isVisible() and len(self.held):
            self.view.viewport().update()

    # --- choosing

    def _choose(self, ce: str) -> None:
        if ce:
            self.detail.choose(ce)
            held, row = self.held.columns, self.view.row()
            number = self.table.rows()[row] if 0 <= row < len(self.table.rows()) else -1
            if number >= 0:
                self.map.choose(str(held["site"][number] or ce))

    def _choose_site(self, site: str) -> None:
        held = self.held.columns
        for row, number in enumerate(self.table.rows()):
            if (held["site"][number] or held["ce"][number]) == site:
                self.view.selectRow(row)
                return

    # --- what is shown

    async def _show_in_turns(self) -> None:
        """Paint the lines above the table, the table, then the details: together they hold the window."""
        if not self.detail.isHidden():
            self._show()
            return
        self.splitter.setUpdatesEnabled(False)
        try:
            self._show()
            await breathe()
        finally:
            self.splitter.setUpdatesEnabled(True)
        await breathe()
        self.detail.show()

    def _show(self) -> None:
        shown, known = self.table.rowCount(), len(self.held)
        self.page.setVisible(bool(known))
        self.health.setVisible(bool(known or self.health.chips) and self._context.link.up)
        self.state.setVisible(not known)
        resources = units.count(known, "resource")
        self.count.setText(resources if shown == known else f"{shown:,} of {resources}")
        if self._mapped:
            self.either.setCurrentWidget(self.map)
        else:
            self.either.setCurrentWidget(self.view if shown else self.nothing)
        if not known:
            self._explain()

    def _explain(self) -> None:
        if not self._context.link.up:
            explain_link(self.state, self._context)
        elif self._error:
            explain_error(self.state, "The resources", self._error, self.look)
        elif not self.held.complete:
            said = "The broker tells what it knows of each of them."
            self.state.show_state("loader-circle", "Loading the resources", said)
        else:
            self.state.show_state(
                "cpu", "No resources are known",
                "A resource is a queue of a site where jobs can run. They become known through sites that "
                "you add, and through sources such as an information index or a file.",
                ("What can I do?", lambda: self._context.show_help("resources")),
            )  # fmt: skip
