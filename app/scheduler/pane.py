"""The scheduler view (CB-UI-11): the queue with its reasons, the policies, the decisions as they are made."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.context import Notice, Tone
from app.scheduler.decisions import WHY, DecisionTable
from app.scheduler.policy import PolicySelector
from app.scheduler.queue import REASON, QueueTable
from app.stores.refresh import Refresh
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_error, explain_link
from app.widgets.table import RowTable
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.queue import DecisionView, QueueView

_LOOK_MS = 5000
"""Between two looks without any news."""
_SECOND_MS = 1000
_PAGE = 500


class SchedulerPane(QWidget):
    """Asks when it comes into sight, when the broker says that something changed, and every few seconds."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.seen: QueueView | None = None
        self._error = ""
        self._refresh, self._lost = Refresh(), False
        self.state, self.policy = ListState(context.theme), PolicySelector(context.theme)
        self.headline, self.next = label(role="title", fluid=True), label(role="muted")
        self.queue, self.queue_view = QueueTable(self), RowTable(context.theme, "Queue")
        self.calm = ListState(context.theme)
        self.decisions, self.log = DecisionTable(self), RowTable(context.theme, "Decisions, newest first")
        self.edit, self.only = QLineEdit(placeholderText="Filter decisions"), QCheckBox("Only the chosen job")
        self.export_queue = ExportButton(context, "queue", "job", self._queue_csv)
        self.export_decisions = ExportButton(context, "decisions", "decision", self._decisions_csv)
        self._make_tables()
        self._lay_out()
        self._connect()
        self._show()

    # --- making

    def _make_tables(self) -> None:
        self.queue_view.setModel(self.queue)
        self.queue_view.widths(48, 128, 140, 48, 76, 160, stretched=REASON)
        self.log.setModel(self.decisions)
        self.log.widths(80, 116, 128, 160, stretched=WHY)
        self.calm.show_state(
            "inbox", "Nothing waits", "Jobs that cannot start at once appear here, with the reason."
        )

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(12, 12, 12, 0)
        head.addWidget(self.headline, 1)
        head.addWidget(self.next)
        head.addWidget(self.export_queue)
        self.either = QStackedWidget()
        self.either.addWidget(self.queue_view)
        self.either.addWidget(self.calm)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.either)
        self.splitter.addWidget(self._log_side())
        self.splitter.setSizes([500, 400])
        self.page = QWidget()
        inside = QVBoxLayout(self.page)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addLayout(head)
        inside.addWidget(self.policy)
        inside.addWidget(self.splitter, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.page)
        column.addWidget(self.state)

    def _log_side(self) -> QWidget:
        side, line = QWidget(), FlowLayout(spacing=12)
        line.setContentsMargins(12, 8, 12, 8)
        line.addWidget(label("Decisions", "strong"))
        self.edit.setAccessibleName("Filter decisions")
        self.edit.setClearButtonEnabled(True)
        sign = self._context.theme.icon("list-filter", "muted")
        self.edit.addAction(sign, QLineEdit.ActionPosition.LeadingPosition).setToolTip("Filter")
        line.addWidget(self.edit)
        line.addWidget(self.only)
        line.addWidget(self.export_decisions)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(line)
        column.addWidget(self.log, 1)
        return side

    def _connect(self) -> None:
        context = self._context
        context.topics.scheduler.connect(self._changed)
        context.link.changed.connect(self._linked)
        self.policy.chosen.connect(self._choose_policy)
        self.queue_view.chosen.connect(lambda _: self._filter())
        self.queue_view.opened.connect(lambda row: context.show_job(self.queue.job_at(row), "story"))
        self.log.opened.connect(self._open_decision)
        self.edit.textChanged.connect(lambda _: self._filter())
        self.only.toggled.connect(lambda _: self._filter())
        self._look, self._second = QTimer(self, interval=_LOOK_MS), QTimer(self, interval=_SECOND_MS)
        self._look.timeout.connect(self._changed)
        self._second.timeout.connect(self._tick)
        for timer in (self._look, self._second):
            timer.start()

    async def _queue_csv(self) -> Written:
        return self.queue.csv()

    async def _decisions_csv(self) -> Written:
        return self.decisions.csv()

    # --- asking

    def showEvent(self, event: QShowEvent) -> None:
        """Ask how things stand now."""
        super().showEvent(event)
        self.look()

    def _changed(self) -> None:
        if self.isVisible():
            self.look()

    def _linked(self) -> None:
        if not self._context.link.up:
            self._lost = True
        elif self._lost:
            self._lost = False
            self.decisions.clear()  # another broker may be there now, and count anew
        for view in (self.queue_view, self.log):
            view.cells.gray = not self._context.link.up
        self._show()
        self._changed()

    def look(self) -> None:
        """Ask for queue, policies and new decisions, unless that is under way."""
        if (self._refresh.under_way or self._context.link.up) and self._refresh.begin():
            self._context.run(self._ask(), "asking the scheduler")

    async def _ask(self) -> None:
        client = self._context.client
        try:
            queue, policies = await client.queue(), await client.policies()
            decided = await client.decisions(self.decisions.last, _PAGE)
        except CrossDeskError as error:
            self.show_error(error)
            return
        finally:
            again = self._refresh.end()
        self._error = ""
        self._show_queue(queue)
        self.policy.show_policies(policies)
        self._add(decided)
        self._show()
        if again or len(decided) == _PAGE:
            self.look()

    def _show_queue(self, queue: QueueView) -> None:
        kept = self.queue.job_at(self.queue_view.row())
        self.seen = queue
        self.queue.show_queue(queue)
        row = self.queue.row_of(kept) if kept else -1
        if row >= 0 and row != self.queue_view.row():
            self.queue_view.selectRow(row)

    def _add(self, decided: list[DecisionView]) -> None:
        """New decisions come in above; what is being read stays where it is, unless the top is in sight."""
        bar, before = self.log.verticalScrollBar(), self.decisions.rowCount()
        at = bar.value()
        self.decisions.add(decided)
        if at:
            grown = (self.decisions.rowCount() - before) * self.log.verticalHeader().defaultSectionSize()
            bar.setMaximum(bar.maximum() + grown)  # the table itself tells its new height only later
            bar.setValue(at + grown)

    # --- doing

    def _choose_policy(self, kind: str, name: str) -> None:
        self._context.run(self._send_policy(kind, name), "choosing the policy")

    async def _send_policy(self, kind: str, name: str) -> None:
        try:
            self.policy.show_policies(await self._context.client.choose_policy(**{kind: name}))
        except CrossDeskError as error:
            self._context.notify(Notice(f"The policy could not be chosen: {error}", Tone.BAD))
            self.policy.show_policies([])
        self.look()

    def _filter(self) -> None:
        job = self.queue.job_at(self.queue_view.row()) if self.only.isChecked() else ""
        self.decisions.filter(job or self.edit.text())

    def _open_decision(self, row: int) -> None:
        decision = self.decisions.at(row)
        if decision is not None and decision.job:
            self._context.show_job(decision.job, "story")

    # --- what is shown

    def show_error(self, error: object) -> None:
        """Show why nothing can be told; what is already there stays."""
        self._error = str(error)
        self._show()

    def _tick(self) -> None:
        if self.isVisible() and self.seen is not None:
            self._tell_next()
            self.queue_view.viewport().update()

    def _tell_next(self) -> None:
        at = self.seen.next_round if self.seen is not None else None
        left = at - time.time() if at else 0.0
        self.next.setText(
            "" if at is None else f"Next round in {units.duration(left)}" if left > 0 else "Matching now"
        )
        self.next.setToolTip("When waiting jobs are matched again at the latest")

    def _show(self) -> None:
        ready = self.seen is not None
        self.page.setVisible(ready)
        self.state.setVisible(not ready)
        if self.seen is not None:
            mine, total = self.queue.rowCount(), self.seen.total
            others = f", {total:,} of all users" if total > mine else ""
            said = units.count(mine, "job of yours waits", "jobs of yours wait") if mine else "Queue"
            self.headline.setText(said + others)
            self.either.setCurrentWidget(self.queue_view if mine else self.calm)
            self._tell_next()
        elif not self._context.link.up:
            explain_link(self.state, self._context)
        elif self._error:
            explain_error(self.state, "The queue", self._error, self.look)
        else:
            self.state.show_state(
                "loader-circle", "Asking the scheduler", "The queue and its reasons come next."
            )
