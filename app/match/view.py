"""Where a description can run, in which order, and why not elsewhere (CB-UI-05)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSplitter,
    QStackedLayout,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.match.asking import MatchRequests
from app.match.candidates import QUEUE, SITE, WAITING, WHY, CandidateTable, forecast_words, matches_csv
from app.match.clause_list import ClauseList
from app.match.explanation import Explanation
from app.match.filters import Filters, PartChoice
from app.match.groups import CPUS, FREE, Groups
from app.stores.link import ConnectionState
from app.widgets.cells import CellDelegate
from app.widgets.csv_file import Written
from app.widgets.empty_state import EmptyState
from app.widgets.export import ExportButton, offer_export
from app.widgets.labels import label, lead
from app.widgets.table import RowTable
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from pathlib import Path

    from app.context import AppContext
    from app.match.choices import TriedChoices
    from broker_core.wire.matches import ClauseCountView, MatchedGroup, MatchedResource, MatchReport

_FORECAST = "Ask the batch systems of the first places when it would start there"
_FORECASTS = 5
_ROOMS = (740, 900, 1240)
"""Pixels from which the explanation stands beside the list, the list has all numbers, and the reasons too."""


@dataclass(frozen=True, slots=True)
class MatchTarget:
    """Where the user wants a description sent: a site, or the computing elements of a group."""

    name: str
    site: str = ""
    ces: tuple[str, ...] = ()


class MatchView(QWidget):
    """A sentence on top, the clauses with their counts, the resources, and the explanation of the chosen one.

    The same widget serves the editor, a job's Where tab and the page of its own.
    """

    clauseMarked = Signal(int, int)
    """Offsets in the description of the clause that was chosen; both 0 when none is."""
    submitAsked = Signal(object)
    """Place."""
    shown = Signal()
    """A report was shown."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.report: MatchReport | None = None
        self.asking = MatchRequests(context, self)
        self.analysis, self.advice = label(wrap=True), label(wrap=True)
        self.notes = label(role="small", wrap=True)
        self.parts, self.clauses, self.filters = (
            PartChoice(),
            ClauseList(context.theme),
            Filters(context.theme),
        )
        self.export = ExportButton(context, "matches", "resource", self._csv)
        self.filters.add_beside_count(self.export)
        self.forecast = tool_button(context.theme.icon("clock"), _FORECAST)
        self.filters.add(self.forecast)
        self.list = RowTable(context.theme, "Resources in the scheduler's order")
        self.candidates = CandidateTable(self)
        self.tree, self.groups = QTreeView(), Groups(self)
        self.explanation, self.empty_state = Explanation(context.theme), EmptyState(context)
        self._chosen, self._room, self._foretold = "", -1, ""
        self._make_list()
        self._make_tree()
        self._lay_out()
        self._connect()
        self._say_nothing_asked()

    # --- making

    def _make_list(self) -> None:
        self.list.setModel(self.candidates)
        self.list.widths(176, 104, 72, 100, 64, 160)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _make_tree(self) -> None:
        self.tree.setModel(self.groups)
        self.tree.setAccessibleName("Groups of computing elements")
        self.tree.setUniformRowHeights(True)
        self.tree.setItemDelegate(CellDelegate(self._context.theme, self.tree))
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for place in range(1, self.groups.columnCount()):
            header.resizeSection(place, 72)

    def _lay_out(self) -> None:
        page, head = QWidget(), QVBoxLayout()
        head.setContentsMargins(12, 12, 12, 8)
        self.analysis.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head.addWidget(self.analysis)
        head.addWidget(self.notes)
        self.card = QFrame()
        self.card.setProperty("role", "banner-warning")
        inside = QVBoxLayout(self.card)
        inside.setContentsMargins(12, 8, 12, 8)
        self.advice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside.addWidget(self.advice)
        self.either = QStackedWidget()
        self.either.addWidget(self.list)
        self.either.addWidget(self.tree)
        self.nothing = label("No resource is left by this filter.", "muted", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.either.addWidget(self.nothing)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        for part, share in ((self.either, 3), (self.explanation, 2)):
            self.splitter.addWidget(part)
            self.splitter.setStretchFactor(self.splitter.count() - 1, share)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        for above in (self.card, self.parts, self.clauses, self.filters):
            column.addWidget(above)
        column.addWidget(self.splitter, 1)
        self._stack, self._page = QStackedLayout(self), page
        self.destroyed.connect(page.deleteLater)  # it may never have been shown
        self._stack.addWidget(self.empty_state)

    def _connect(self) -> None:
        self.asking.answered.connect(self.show_report)
        self.forecast.clicked.connect(self._ask_forecasts)
        self.asking.paged.connect(self.candidates.add_page)
        self.asking.explained.connect(self._explained)
        self.asking.failed.connect(self._failed)
        self.candidates.wanted.connect(self.asking.page)
        self.list.chosen.connect(self._choose)
        self.tree.selectionModel().currentChanged.connect(lambda now, _: self._choose_group(now))
        self.parts.chosen.connect(self._choose_part)
        self.clauses.clauseChosen.connect(self._choose_clause)
        offer_export(self._context, self.clauses.table, "clauses", "clause")
        self.filters.changed.connect(lambda: self.asking.change(**self.filters.fields()))
        self.explanation.submitAsked.connect(self._submit)
        self.empty_state.acted.connect(self.again)
        self._context.link.changed.connect(self._linked)

    async def _csv(self) -> Written:
        return matches_csv(await self.asking.every_resource())

    # --- asking

    def ask(self, description: str, soon: bool = False, base: Path | None = None) -> None:
        """Ask where this description can run; with `soon` once nothing has changed for a moment.

        `base`: the folder of the files that it may name as its nodes.
        """
        self.asking.base = base
        if not description.strip():
            self.asking.forget()
            self._say_nothing_asked()
            return
        if self.report is None:
            self.empty_state.load()
            self._stack.setCurrentWidget(self.empty_state)
        self.asking.change(soon, description=description)

    def again(self) -> None:
        """Ask the same once more."""
        if self.asking.question.description:
            self.ask(self.asking.question.description, base=self.asking.base)

    def _linked(self) -> None:
        up = self._context.link.state is ConnectionState.CONNECTED
        self.list.cells.gray = not up
        self.list.viewport().update()
        if up and self.isVisible():
            self.again()

    # --- showing

    def show_report(self, report: MatchReport) -> None:
        """Show the counts and the first page; what was chosen stays chosen."""
        self.report = report
        if self.asking.question.description != self._foretold:
            self.candidates.forecasts = {}
        if not report.known:
            said = report.advice or "Add a site, or a source of information, and ask again."
            self.empty_state.say("server", "No resources are known", said, "Ask again")
            self._stack.setCurrentWidget(self.empty_state)
            return
        lead(self.analysis, report.analysis or analysis(report.matching, report.known))
        self.notes.setText(report.notes)
        self.notes.setVisible(bool(report.notes))
        self.advice.setText(report.advice)
        self.card.setVisible(bool(report.advice))
        self.parts.show_report(report, self.asking.question.part)
        self.clauses.show_report(report)
        self.filters.count.setText(counted(report, self._filtered()))
        self.filters.offer_access(any(one.origin == "access" for one in report.clauses))
        chosen = self._chosen
        self.candidates.show_report(report)
        self._show_groups(report)
        if self._stack.indexOf(self._page) < 0:  # before, its parts would be laid out again and again
            self._stack.addWidget(self._page)
        self._stack.setCurrentWidget(self._page)
        self._choose_again(chosen)
        self.shown.emit()

    def mark(self, tried: TriedChoices) -> None:
        """Mark which choice is being tried, and which did not take the job (SA-UI-01)."""
        self.candidates.mark(tried)
        self.groups.mark(tried)

    def _show_groups(self, report: MatchReport) -> None:
        """A job over several computing elements is shown by groups, unless resources are asked for."""
        grouped = bool(report.groups) and not self._filtered()
        self.groups.show_report(report)
        for row in range(self.groups.rowCount()):
            self.tree.setFirstColumnSpanned(row, QModelIndex(), True)
        if grouped:
            self.tree.expand(self.groups.index(0, 0))
            self.tree.setCurrentIndex(self.groups.first())
        left = self.candidates.rowCount()
        self.either.setCurrentWidget(self.tree if grouped else self.list if left else self.nothing)

    def _filtered(self) -> bool:
        question = self.asking.question
        return question.only != "all" or bool(question.text or question.fails)

    def _choose_again(self, chosen: str) -> None:
        if self.either.currentWidget() is not self.list:
            if self.either.currentWidget() is self.nothing:
                self.explanation.clear()
            return
        row = self.candidates.row_of(chosen) if chosen else 0
        self.list.selectRow(max(row, 0))

    def _choose(self, row: int) -> None:
        one = self.candidates.at(row) if row >= 0 else None
        if one is None:
            return
        self._chosen = one.ce
        if not one.clauses and (self.explanation.ce != one.ce or not self.explanation.lines):
            self._explain(one, row)
        if one.clauses:
            self._explained(one)
        else:
            self.asking.explain(one.ce)

    def _explained(self, one: MatchedResource) -> None:
        if one.ce == self._chosen or self.either.currentWidget() is self.tree:
            self._explain(one, self.candidates.row_of(one.ce))

    def _explain(self, one: MatchedResource, row: int) -> None:
        fared = (self.candidates.fared(one), self.candidates.forecasts.get(one.ce, ""))
        self.explanation.show_resource(one, row, "\n".join(filter(None, fared)))

    def _ask_forecasts(self) -> None:
        """Ask the batch systems of the first candidates when it would start there."""
        rows = (self.candidates.at(row) for row in range(_FORECASTS))
        ces = [one.ce for one in rows if one is not None and one.matches]
        if ces:
            self.forecast.setEnabled(False)
            asked = self._forecasts(self.asking.question.description, ces)
            self._context.run(asked, "asking when it would start")

    async def _forecasts(self, description: str, ces: list[str]) -> None:
        try:
            found = await self._context.client.start_forecasts(description, ces)
        finally:
            self.forecast.setEnabled(True)
        if description != self.asking.question.description:
            return
        self._foretold = description
        self.candidates.show_forecasts({one.ce: forecast_words(one) for one in found})
        if (one := self.candidates.at(self.list.row())) is not None:
            self._chosen = one.ce
            self.asking.explain(one.ce)

    def _choose_group(self, index: QModelIndex) -> None:
        group, member = self.groups.group_at(index), self.groups.member_at(index)
        if member is not None:
            self._chosen = member.ce
            self.asking.explain(member.ce)
        elif group is not None:
            self._chosen = ""
            trace = self.report.trace if self.report else []
            first, error = index == self.groups.first(), self.groups.error(group)
            self.explanation.show_group(group, trace, first, error)

    def _choose_part(self, name: str) -> None:
        """Ask about other jobs of the description, whose clauses are their own."""
        self.clauses.let_go()
        self.asking.change(part=name)

    def _choose_clause(self, clause: ClauseCountView | None) -> None:
        self.clauseMarked.emit(*(self.asking.place(clause.start, clause.end) if clause else (0, 0)))
        self.asking.change(fails=clause.text if clause else "")

    def _submit(self) -> None:
        if self.either.currentWidget() is self.tree:
            group = self.groups.group_at(self.tree.currentIndex())
            if group is not None:
                self.submitAsked.emit(place_of(group))
            return
        one = self.candidates.at(self.list.row())
        if one is not None:
            self.submitAsked.emit(MatchTarget(one.site or one.ce, site=one.ce))

    # --- conditions

    def _say_nothing_asked(self) -> None:
        self.report = None
        said = "Write a description: here you see where it can run, in which order, and why not elsewhere."
        self.empty_state.say("route", "Nothing to ask about yet", said)
        self._stack.setCurrentWidget(self.empty_state)

    def _failed(self, said: str) -> None:
        """Say why there is no answer; an answer that is there stays, with the reason above it."""
        if self.report is None or not self.report.known:
            self.empty_state.say("circle-alert", "This could not be asked", said, "Ask again", "negative")
            self._stack.setCurrentWidget(self.empty_state)
            return
        self.advice.setText(f"Shown is the answer before the last change. {said}")
        self.card.show()

    def showing_report(self) -> bool:
        """True while a report is what the user sees."""
        return self._stack.currentWidget() is self._page

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the explanation beside the list where there is room, else below it."""
        super().resizeEvent(event)
        room = sum(event.size().width() >= width for width in _ROOMS)
        if room == self._room:
            return
        self._room, wide, very = room, room > 0, room > 2
        self.splitter.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
        self.splitter.setSizes([600, 400] if wide else [500, 500])
        for column in (QUEUE, WAITING):
            self.list.setColumnHidden(column, room < 2)
        self.candidates.name_queues(room < 2)
        self.list.setColumnHidden(WHY, not very)
        self.list.stretch(WHY if very else SITE)
        for column in (CPUS, FREE):
            self.tree.setColumnHidden(column, room < 2)


def analysis(matching: int, known: int) -> str:
    """Say how many of the known resources can run it."""
    if not matching:
        return "No resource can run this now." if known > 1 else "The one known resource cannot run this now."
    if matching == known:
        return "Every known resource can run this." if known > 1 else "The one known resource can run this."
    return f"{units.count(matching, 'resource')} of {known:,} can run this."


def counted(report: MatchReport, filtered: bool) -> str:
    """Say how much of everything is listed."""
    if report.groups and not filtered:
        groups = units.count(report.groups_total or len(report.groups), "group")
        return (
            f"first {len(report.groups):,} of {groups}"
            if report.groups_total > len(report.groups)
            else groups
        )
    known = units.count(report.known, "resource")
    return known if report.selected == report.known else f"{report.selected:,} of {known}"


def place_of(group: MatchedGroup) -> MatchTarget:
    """Return the place that a group stands for."""
    from app.match.groups import group_name

    return MatchTarget(group_name(group), ces=tuple(one.ce for one in group.members))
