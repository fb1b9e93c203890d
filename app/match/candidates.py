"""The list of resources for a description, in the scheduler's order, of which pages come as they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from app import units
from app.match.asking import PAGE
from app.match.choices import TriedChoices
from app.widgets.cells import BADGE, FONT, GLYPH, TONE
from app.widgets.csv_file import Written
from app.widgets.match_style import rank_words, sentence, verdict
from app.widgets.table import NOWHERE, Index, TitledModel
from broker_core.jobs.site_names import element_words, queue_name, site_name

if TYPE_CHECKING:
    from broker_core.wire.matches import MatchedResource, MatchReport, StartForecast

SITE, QUEUE, RANK, FREE, WAITING, WHY = range(6)


class CandidateTable(TitledModel):
    """Rows that were not seen yet are blank until their page comes; nobody waits for them."""

    TITLES = ("Site", "Queue", "Rank", "Free CPUs", "Waiting", "Why")
    NUMBERS = frozenset({RANK, FREE, WAITING})

    wanted = Signal(int)
    """A row whose page is missing."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: dict[int, MatchedResource] = {}
        self._total = 0
        self._queues = False
        self.forecasts: dict[str, str] = {}
        """Computing element to what its batch system says of the start there."""
        self._tried = TriedChoices()

    def show_report(self, report: MatchReport) -> None:
        """Show another list, of which this is the first page."""
        self.beginResetModel()
        self._rows = dict(enumerate(report.resources))
        self._total = max(report.selected, len(report.resources))
        self.endResetModel()

    def add_page(self, report: MatchReport) -> None:
        """Put a later page in; rows beyond the end as it was first told are left aside."""
        fresh = {report.offset + at: one for at, one in enumerate(report.resources)}
        self._rows.update({row: one for row, one in fresh.items() if row < self._total})
        if fresh:
            last = min(max(fresh), self._total - 1)
            self.dataChanged.emit(self.index(report.offset, 0), self.index(last, len(self.TITLES) - 1))

    def show_forecasts(self, forecasts: dict[str, str]) -> None:
        """Tell what batch systems say of the start; those that were told before are gone."""
        self.forecasts = forecasts
        if self._total:
            self.dataChanged.emit(self.index(0, 0), self.index(self._total - 1, len(self.TITLES) - 1))

    def mark(self, tried: TriedChoices) -> None:
        """Mark what is being tried and what failed."""
        self._tried = tried
        if self._total:
            self.dataChanged.emit(self.index(0, 0), self.index(self._total - 1, len(self.TITLES) - 1))

    def name_queues(self, on: bool) -> None:
        """Name the queue behind the site, where it has no column of its own."""
        self._queues = on
        if self._total:
            self.dataChanged.emit(self.index(0, SITE), self.index(self._total - 1, SITE))

    def at(self, row: int) -> MatchedResource | None:
        """Return the resource of a row, None while its page is missing."""
        return self._rows.get(row)

    def row_of(self, ce: str) -> int:
        """Return the row of a computing element among those that are here, -1 for none."""
        return next((row for row, one in self._rows.items() if one.ce == ce), -1)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """All that the filter leaves, seen or not."""
        return 0 if parent.isValid() else self._total

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints, the reason in the tooltip, and a whole sentence for screen readers."""
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        one = self._rows.get(row)
        if one is None:
            if role == Qt.ItemDataRole.DisplayRole and column == SITE and row < self._total:
                self.wanted.emit(row // PAGE * PAGE)
            return "…" if role == Qt.ItemDataRole.DisplayRole and column == SITE else None
        if role == Qt.ItemDataRole.DisplayRole:
            behind = f"  {queue_name(one.ce)}" if self._queues and column == SITE else ""
            if column == WHY:
                return f"{self.fared(one)} {why(one)} {self.forecasts.get(one.ce, '')}".strip()
            return text(one, column) + behind
        if role == GLYPH and column == SITE:
            return self._tried.glyph([one.ce]) or verdict(one)[:2]
        if role == BADGE:
            return self._badge(row, one) if column == SITE else None
        if role == TONE:
            return None if column == SITE and one.matches else "muted"
        if role == FONT:
            return "strong" if column == SITE and one.matches else None
        if role == Qt.ItemDataRole.ToolTipRole:
            full = f"{self.fared(one)}\n{tip(one, column)}\n{self.forecasts.get(one.ce, '')}"
            return full.strip()
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return (
                f"{self.fared(one)} {heard(one)} {self.forecasts.get(one.ce, '')}".strip()
                if column == SITE
                else text(one, column)
            )
        return None

    def _badge(self, row: int, one: MatchedResource) -> str | None:
        return self._tried.badge([one.ce]) or ("first" if row == 0 and one.matches else None)

    def fared(self, one: MatchedResource) -> str:
        """How a resource fared when it was tried, as a sentence; empty for one that was not."""
        error = self._tried.error([one.ce])
        return f"Tried: {error}" if error else "Being tried." if self._tried.badge([one.ce]) else ""


def matches_csv(found: Sequence[MatchedResource]) -> Written:
    """Return resources in the scheduler's order, with exact values."""
    header = (
        "place",
        "ce",
        "site",
        "matches",
        "rank",
        "free_cpus",
        "total_cpus",
        "waiting",
        "expected_wait",
        "why",
    )
    rows = [
        [place, *(getattr(one, name) for name in header[1:-1]), why(one)]
        for place, one in enumerate(found, 1)
    ]
    return Written(header, rows)


def text(one: MatchedResource, column: int) -> str:
    """Return the text of a cell."""
    if column == SITE:
        return one.site or site_name(one.ce)
    if column == QUEUE:
        return queue_name(one.ce)
    if column == RANK:
        return rank_words(one.rank)
    if column == FREE:
        return f"{one.free_cpus:,} of {one.total_cpus:,}"
    if column == WAITING:
        return f"{one.waiting:,}" if one.waiting else ""
    return why(one)


def tip(one: MatchedResource, column: int) -> str:
    """Return the tooltip of a cell: what the computing element is, and how the rank came about."""
    if column == RANK and one.order:
        return one.order
    free = f"{one.free_cpus:,} of {units.count(one.total_cpus, 'CPU')} free"
    return f"{element_words(one.ce)}\n{free}, {units.count(one.waiting, 'job')} waiting\n{why(one)}"


def heard(one: MatchedResource) -> str:
    """Return a whole sentence for screen readers."""
    return f"{one.site or element_words(one.ce)}: {verdict(one)[2]}. {why(one)}"


def why(one: MatchedResource) -> str:
    """Say why it stands where it does, or why it does not match."""
    if not one.matches:
        return sentence(one.reason)
    files = f"{units.count(one.close_files, 'input file')} near" if one.close_files else ""
    reason = one.order or files or "Every clause holds here"
    return sentence(", ".join(filter(None, (reason, start_words(one.expected_wait)))))


def forecast_words(one: StartForecast) -> str:
    """Say what a batch system told of the start of a job that was not sent, as a sentence."""
    if one.trouble:
        return sentence(one.trouble)
    if one.wait is None:
        return "Nobody tells when it would start there."
    begin = start_words(one.wait).replace("starts", "it would start", 1)
    return f"Sent now, {begin}, says {one.source}."


def start_words(wait: float | None) -> str:
    """Say when a job would start; empty where nobody knows."""
    if wait is None:
        return ""
    return f"starts in about {units.duration(wait)}" if wait >= 1 else "starts at once"
