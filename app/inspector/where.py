"""The Where tab: where a description can run, and why not elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.inspector import words
from app.inspector.labels import label
from app.inspector.pane import JobPane
from app.inspector.placard import Placard
from app.inspector.wrapped import WrappedLines
from app.theme import glyphs
from app.theme.faces import Shape
from broker_core.errors import CrossDeskError
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from app.context import Desk
    from broker_core.wire.matches import Clause, MatchedResource, MatchReport

_VALUES: dict[str, tuple[Shape, str, str]] = {
    "true": (Shape.CHECK, "positive", "holds"),
    "false": (Shape.CROSS, "negative", "does not hold"),
    "undefined": (Shape.QUESTION, "warning", "not known here"),
    "error": (Shape.EXCLAMATION, "negative", "cannot be evaluated"),
}
"""Value of a clause to its shape, colour token and words."""
_ORIGINS = {
    "requirements": "asked for by the description",
    "cpus": "number of CPUs",
    "status": "state of the site",
    "authorisation": "who may use it",
    "software": "software it must have",
    "policy": "rule of the broker",
    "kind": "kind of job",
    "lock": "in use by another choice",
    "stale": "age of what is known",
}


class MatchView(QWidget):
    """A match report: what can run it, in the scheduler's order, then the others with the reason.

    Used for a job and, in the editor, for a description that has not been submitted.
    """

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._turn = 0
        self.report: MatchReport | None = None
        self.summary, self.advice = label(role="strong", wrap=True), label(wrap=True)
        self.tree, self.placard = QTreeWidget(), Placard(desk)
        self._lay_out()
        desk.theme.changed.connect(self._redraw)

    def _lay_out(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 12, 0, 0)
        column.setSpacing(8)
        self.card = QFrame()
        self.card.setProperty("role", "banner-warning")
        inside = QVBoxLayout(self.card)
        inside.setContentsMargins(12, 8, 12, 8)
        self.advice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside.addWidget(self.advice)
        self.summary.setContentsMargins(12, 0, 12, 0)
        self.tree.setHeaderLabels(["Site", "Rank", "Free CPUs"])
        self.tree.setAccessibleName("Sites and why")
        self.tree.setItemDelegate(WrappedLines(self.tree))
        self.tree.setWordWrap(True)
        self.tree.setIndentation(18)
        self.tree.setStyleSheet("QTreeView::item { padding-right: 8px; }")
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for place in (1, 2):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
            self.tree.headerItem().setTextAlignment(place, Qt.AlignmentFlag.AlignRight)
        for part in (self.summary, self.card, self.tree):
            column.addWidget(part)
        column.setStretch(2, 1)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(page)
        self._stack.addWidget(self.placard)

    def ask(self, description: str) -> None:
        """Ask the broker about a description and show what it says."""
        self._turn += 1
        self.placard.load()
        self._stack.setCurrentWidget(self.placard)
        self._desk.run(self._ask(description, self._turn), "asking where the description could run")

    async def _ask(self, description: str, turn: int) -> None:
        try:
            report = await self._desk.client.match(description)
        except CrossDeskError as error:
            if turn == self._turn:
                self.placard.say("circle-alert", "This could not be asked", str(error), token="negative")
            return
        if turn == self._turn:
            self.show_report(report)

    def show_report(self, report: MatchReport) -> None:
        """Show a report."""
        self._turn += 1
        same, self.report = report == self.report, report
        if not report.resources:
            self.placard.say("server", "No sites are known", report.advice or "Add a site to run jobs on it.")
            self._stack.setCurrentWidget(self.placard)
            return
        self._stack.setCurrentIndex(0)
        if not same:
            self._redraw()

    def _redraw(self) -> None:
        report = self.report
        if report is None:
            return
        matching = sum(one.matches for one in report.resources)
        self.summary.setText(summary(matching, len(report.resources)))
        self.card.setVisible(bool(report.advice))
        self.advice.setText(report.advice)
        self.tree.clear()
        for place, one in enumerate(report.resources):
            item = self._resource(place, one)
            self.tree.addTopLevelItem(item)
            lines = [QTreeWidgetItem([_sentence(_verdict(place, one))]), *map(self._clause, one.clauses)]
            lines[0].setForeground(0, self._desk.theme.color("muted"))
            item.addChildren(lines)
            for line in lines:
                line.setFirstColumnSpanned(True)
            item.setExpanded(place == 0 or len(report.resources) <= 3)

    def _resource(self, place: int, one: MatchedResource) -> QTreeWidgetItem:
        rank = "" if one.rank is None else f"{one.rank:g}"
        free = f"{one.free_cpus} of {one.total_cpus}"
        item = QTreeWidgetItem([one.site or one.ce, rank, free])
        face = (Shape.CHECK, "positive") if one.matches else (Shape.CROSS, "negative")
        item.setIcon(0, self._icon(*face))
        for column in (1, 2):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        said = _verdict(place, one)
        item.setToolTip(0, f"{one.ce}\n{words.count(one.waiting, 'job')} waiting there\n{said}")
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{one.site}: {said}")
        return item

    def _clause(self, clause: Clause) -> QTreeWidgetItem:
        shape, token, said = _VALUES.get(clause.value, _VALUES["error"])
        item = QTreeWidgetItem(
            [f"{clause.explanation or clause.text}: {said}" if not clause.explanation else clause.explanation]
        )
        item.setIcon(0, self._icon(shape, token))
        origin = _ORIGINS.get(clause.origin, clause.origin)
        item.setToolTip(0, f"{clause.text}\n{said.capitalize()}; {origin}")
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{said}: {clause.explanation or clause.text}")
        return item

    def _icon(self, shape: Shape, token: str) -> QIcon:
        return glyphs.icon(shape, self._desk.theme.color(token))


def summary(matching: int, known: int) -> str:
    """Say how many of the known sites can run it."""
    if not matching:
        return "No site can run this now." if known > 1 else "The one known site cannot run this now."
    if matching == known:
        return "Every known site can run this." if known > 1 else "The one known site can run this."
    return f"{words.count(matching, 'site')} of {known} can run this."


def _verdict(place: int, one: MatchedResource) -> str:
    return f"would be choice {place + 1}" if one.matches else one.reason


def _sentence(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") or not text else ".")


class WherePane(JobPane):
    """The match of the job's own description, as the scheduler would make it now."""

    title = "Where"

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self.match = MatchView(desk)
        self.note = label(role="muted", wrap=True)
        self.note.setContentsMargins(12, 12, 12, 0)
        column = QVBoxLayout(self.content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.note)
        column.addWidget(self.match, 1)

    async def load(self, job: str) -> MatchReport:
        """Ask for the job's description, then where it matches."""
        detail = await self.desk.client.job(job)
        return await self.desk.client.match(detail.effective or detail.description)

    def render_answer(self, answer: MatchReport) -> None:
        """Show the report, and where the job in fact went."""
        row = self.desk.jobs.row(self.job or "") or {}
        site = row.get("site")
        self.note.setText(
            f"It went to {site_name(site)}. Submitted again now, this is what it would find:" if site else ""
        )
        self.note.setVisible(bool(site))
        self.match.show_report(answer)
