"""Everything that is known of one computing element: state, promises, history and attributes (CB-UI-09)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from app import units
from app.stores.slices import breathe
from app.widgets.cells import FONT, TONE
from app.widgets.csv_file import Written
from app.widgets.empty_state import EmptyState
from app.widgets.equipment import Equipment
from app.widgets.export import ExportButton
from app.widgets.labels import label
from app.widgets.match_style import sentence
from app.widgets.plots.deferred_plot import make_history_plot
from app.widgets.table import NOWHERE, Index, RowTable, TitledModel
from broker_core.errors import CrossDeskError
from broker_core.jobs.site_names import element_words

if TYPE_CHECKING:
    from app.context import AppContext
    from app.widgets.plots.history_plot import HistoryPlot
    from broker_core.wire.resources import AttributeView, ResourceDetail


NAME, VALUE, SOURCE, HEARD = range(4)
_SERIES = (("free CPUs", "series-1"), ("waiting jobs", "series-2"))
_LOW = 360
"""Pixels of height below which the course of free CPUs is left out."""
_PAUSE_MS = 60
"""Rows passed over more quickly than this are not asked about."""


class Attributes(TitledModel):
    """One row for each attribute, by name; a filter looks through names and values."""

    TITLES = ("Attribute", "Value", "Source", "Heard")

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._all: list[AttributeView] = []
        self._shown: list[AttributeView] = []
        self._wanted = ""

    def show_attributes(self, attributes: list[AttributeView]) -> None:
        """Show these attributes through the filter."""
        self._all = sorted(attributes, key=lambda one: one.name.lower())
        self.filter(self._wanted)

    def csv(self) -> Written:
        """Return the attributes that are shown."""
        rows = [[one.name, one.value, one.source, units.exact(one.heard)] for one in self._shown]
        return Written(("attribute", "value", "source", "heard"), rows)

    def filter(self, wanted: str) -> None:
        """Show only attributes whose name or value contains this."""
        self._wanted = wanted.strip().lower()
        self.beginResetModel()
        self._shown = [
            one for one in self._all if self._wanted in f"{one.name} {value_text(one.value)}".lower()
        ]
        self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Attributes that pass the filter."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text of a cell; values that other sources say differently stand in the tooltip."""
        one, column = self._shown[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return (one.name, value_text(one.value), one.source, _age(one))[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            others = [f"{source} says {value_text(value)}" for source, value in one.others.items()]
            return "\n".join([f"{one.name} = {value_text(one.value)}", *others, units.exact(one.heard)])
        if role == FONT:
            return "mono" if column == NAME else None
        if role == TONE:
            return "warning" if column == VALUE and one.others else "text" if column == VALUE else "muted"
        return None


def _age(one: AttributeView) -> str:
    return "fixed" if one.static else units.ago(one.heard, time.time())


def value_text(value: Any) -> str:
    """Return a value as it would stand in a description."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "[" + "; ".join(f"{name} = {value_text(part)}" for name, part in value.items()) + "]"
    if isinstance(value, list | tuple):
        return "{" + ", ".join(map(value_text, value)) + "}"
    return str(value)


class DetailPane(QWidget):
    """Asks for the details of the chosen resource; an answer about another one is dropped."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.ce, self.shown = "", ""
        self.name, self.about = label(role="title", wrap=True), label(role="muted", wrap=True)
        self.marks, self.promises = label(wrap=True), label(role="muted", wrap=True)
        self.equipment = Equipment()
        self.attributes = Attributes(self)
        self.edit = QLineEdit(placeholderText="Filter attributes")
        self.table = RowTable(context.theme, "Attributes")
        self.empty_state = EmptyState(context)
        self.plot: HistoryPlot | None = None
        self._has_course = False
        self._lay_out()
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.look)
        self.edit.textChanged.connect(self.attributes.filter)
        self.empty_state.acted.connect(self.look)
        self.choose("")

    def _lay_out(self) -> None:
        page = QWidget()
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(12, 12, 0, 0)
        self._column.setSpacing(4)
        for part in (self.name, self.about, self.marks, self.promises):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            part.setContentsMargins(0, 0, 12, 0)
            self._column.addWidget(part)
        self.equipment.setContentsMargins(0, 0, 12, 0)
        self._column.addWidget(self.equipment)
        self._column.addSpacing(8)
        self.edit.setAccessibleName("Filter attributes")
        self.edit.setClearButtonEnabled(True)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 12, 4)
        line.addWidget(self.edit, 1)
        line.addWidget(ExportButton(self._context, "attributes", "attribute", self._csv))
        self._column.addLayout(line)
        self.table.setModel(self.attributes)
        self.table.widths(168, 80, 64, 80, stretched=VALUE, compact=True)
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._column.addWidget(self.table, 1)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(page)
        self._stack.addWidget(self.empty_state)

    async def _csv(self) -> Written:
        return self.attributes.csv()

    def choose(self, ce: str) -> None:
        """Show this computing element; empty: none."""
        if ce == self.ce and ce:
            return
        self.ce = ce
        if ce:
            self._pause.start()
        else:
            said = "Select a resource to see everything that is known of it, who said so, and when."
            self.empty_state.say("server", "No resource selected", said)
            self._stack.setCurrentWidget(self.empty_state)

    def look(self) -> None:
        """Ask about the chosen one again."""
        if self.ce and self._context.link.up:
            self._context.run(self._look(self.ce), "reading what is known of the resource")

    async def _look(self, ce: str) -> None:
        try:
            detail = await self._context.client.resource(ce)
        except CrossDeskError as error:
            if ce == self.ce and self.shown != ce:
                self.empty_state.say(
                    "circle-alert", "This could not be read", str(error), "Try again", "negative"
                )
                self._stack.setCurrentWidget(self.empty_state)
            return
        if ce == self.ce:
            self.show_detail(detail)
            await breathe()
            await self._show_history(detail)

    def show_detail(self, detail: ResourceDetail) -> None:
        """Show everything."""
        self.shown = detail.ce
        self.name.setText(detail.site or detail.ce)
        self.about.setText(
            element_words(detail.ce) + ("" if detail.access else "\nThis broker has no account there yet.")
        )
        self.marks.setText("\n".join(sentence(f"{mark}: {why}") for mark, why in detail.marks.items()))
        self.marks.setStyleSheet(f"color: {self._context.theme.color('warning').name()}")
        self.marks.setVisible(bool(detail.marks))
        self.promises.setText("\n".join(promises(detail, time.time())))
        self.promises.setVisible(bool(self.promises.text()))
        self.equipment.show_details([detail])
        self.attributes.show_attributes(detail.attributes)
        self._stack.setCurrentIndex(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low pane leaves its room to the attributes."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.plot is not None:
            self.plot.setVisible(self._has_course and self.height() >= _LOW)

    async def _show_history(self, detail: ResourceDetail) -> None:
        if len(detail.times) > 1 and self.plot is None:
            made = await make_history_plot(self._context.theme, _SERIES)
            if self.plot is None:
                self.plot = made
                self._column.insertWidget(4, made)
        if self.plot is not None and detail.ce == self.ce:
            self._has_course = len(detail.times) > 1
            self._fit()
            await breathe()
            self.plot.show_history(detail.times, detail.free, detail.waiting)


def promises(detail: ResourceDetail, now: float) -> list[str]:
    """Say who holds the resource, and which CPUs are given to jobs that the site does not show yet."""
    told = []
    if detail.lock_owner:
        left = f" for {units.duration(detail.lock_until - now)} more" if detail.lock_until else ""
        told.append(f"Locked by job {detail.lock_owner}{left}: no other job is sent there meanwhile.")
    hidden = [one for one in detail.commitments if not one.visible]
    if hidden:
        cpus = units.count(sum(one.cpus for one in hidden), "CPU")
        jobs = units.count(len(hidden), "job")
        told.append(f"{cpus} promised to {jobs} that the site's figures do not show yet.")
    shown = len(detail.commitments) - len(hidden)
    if shown:
        told.append(f"{units.count(shown, 'job')} of this broker counted in the site's figures.")
    return told
