"""Several selected jobs: how many have which outcome, and what can be done with them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app.actions.table import BY_ID, COMPARED
from app.inspector import job_times
from app.inspector.batch.figures import failures_of
from app.inspector.header import JobActions
from app.stores.alike import Alike, alike, alike_in_slices
from app.stores.refresh import Refresh
from app.stores.slices import SLICE, breathe, parts
from app.widgets.labels import breakable, give_way, label
from app.widgets.state_glyph import StateGlyph
from app.widgets.state_style import OUTCOME_STYLES
from broker_core.jobs.outcome import Outcome, outcomes
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.batch.figures import FailureGroup
    from app.stores.jobs import JobStore

_PAUSE_MS = 300
"""Between two sums of very many jobs that change."""
_REASONS_SHOWN = 4
"""Ways in which jobs failed that are told; the page of a batch has all."""


@dataclass(slots=True)
class SelectionSummary:
    """What matters about selected jobs."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    cpus: int = 0
    sites: set[str] = field(default_factory=set)

    def add(self, rows: JobStore, jobs: Sequence[str]) -> None:
        """Count these jobs too; those that are gone are left out."""
        columns, numbers = rows.columns, [rows.at[job] for job in jobs if job in rows.at]
        states, codes = columns["state"], columns["exit_code"]
        self.outcomes.update(outcomes((states[at] for at in numbers), (codes[at] for at in numbers)))
        self.cpus += sum(columns["cpus"][at] or 1 for at in numbers)
        self.sites |= {site_name(ce) for ce in {columns["site"][at] for at in numbers} if ce}

    def sentence(self) -> str:
        """CPUs in all, sites, how many failed."""
        facts = [f"{job_times.count(self.cpus, 'CPU')} in all"]
        if self.sites:
            facts.append(f"at {min(self.sites)}" if len(self.sites) == 1 else f"at {len(self.sites)} sites")
        if bad := self.outcomes[Outcome.FAILED]:
            facts.append(f"{bad:,} failed")
        return ", ".join(facts) + "."


class FailureReasons(QWidget):
    """Why the failed ones of the selected jobs failed: in how many each way, most often first."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: list[str] = []
        self._lines = QVBoxLayout()
        self._lines.setSpacing(4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(6)
        column.addWidget(label("Why they failed", "section"))
        column.addLayout(self._lines)
        self.hide()

    def show_groups(self, groups: Sequence[FailureGroup]) -> None:
        """Show these ways, or nothing if no job failed."""
        reasons = [
            f"{len(one.jobs):,} × {'  ·  '.join(filter(None, (one.cause, one.reason)))}"
            for one in groups[:_REASONS_SHOWN]
        ]
        if len(groups) > _REASONS_SHOWN:
            rest = sum(len(one.jobs) for one in groups[_REASONS_SHOWN:])
            reasons.append(f"{rest:,} × in other ways")
        self.setVisible(bool(reasons))
        if reasons == self.reasons:
            return
        self.reasons = reasons
        while (gone := self._lines.takeAt(0)) is not None:
            if (widget := gone.widget()) is not None:
                widget.deleteLater()
        for reason in reasons:
            line = label(breakable(reason), "negative", wrap=True)
            give_way(line)
            self._lines.addWidget(line)


class MultiSelection(QWidget):
    """A summary with counts by outcome, and actions with the number of jobs to which each applies."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._ids: Sequence[str] = ()
        self._refresh = Refresh()
        self._later = QTimer(self, interval=_PAUSE_MS, singleShot=True)
        self._later.timeout.connect(self._begin)
        self.title, self.about = label(role="title"), label(role="muted", wrap=True)
        self.offers = JobActions(context)
        self.compare = QPushButton("Compare")
        self.compare.clicked.connect(lambda: context.trigger("job.compare"))
        self.counts: dict[Outcome, int] = {}
        self.failures = FailureReasons()
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 16)
        column.setSpacing(8)
        for part in (self.title, self.about, self.offers):
            column.addWidget(part)
        column.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(8)
        context.theme.changed.connect(self._restyle)
        self._restyle()
        column.addWidget(label("States", "section"))
        column.addLayout(self._grid)
        column.addWidget(self.failures)
        column.addStretch(1)

    def _restyle(self) -> None:
        self.compare.setIcon(self._context.theme.icon(BY_ID["job.compare"].icon))

    def show_jobs(self, ids: Sequence[str]) -> None:
        """Sum these jobs up; very many in slices, and the summary before stands for a moment."""
        changed, self._ids = ids is not self._ids, ids
        number = sum(map(self._context.jobs.at.__contains__, ids))
        counted = job_times.count(number, "job")
        self.title.setText(f"{counted} selected")
        self.compare.setVisible(COMPARED[0] <= number <= COMPARED[1])
        self.compare.setToolTip(f"{counted} side by side")
        if len(ids) <= SLICE:
            summary = SelectionSummary()
            summary.add(self._context.jobs, ids)
            self._show(alike(self._context.jobs, ids, self._context.sites.unheard), summary)
            self.failures.show_groups(failures_of(self._context.jobs.columns, self._numbers(ids)))
        elif changed:
            self._begin()
        elif not self._later.isActive():
            self._later.start()

    def _numbers(self, ids: Sequence[str]) -> list[int]:
        """Rows of those of the jobs that are there."""
        at = self._context.jobs.at
        return [at[job] for job in ids if job in at]

    def _begin(self) -> None:
        if len(self._ids) > SLICE and self._refresh.begin():
            self._context.run(self._sum_up(self._ids), "summing up what is selected")

    async def _sum_up(self, ids: Sequence[str]) -> None:
        rows, summary = self._context.jobs, SelectionSummary()
        try:
            kinds = await alike_in_slices(rows, ids, self._context.sites.unheard)
            for part in parts(ids):
                summary.add(rows, part)
                await breathe()
            groups = await asyncio.to_thread(failures_of, rows.columns, self._numbers(ids))
            if ids is self._ids:
                self._show(kinds, summary)
                self.failures.show_groups(groups)
        finally:
            again = self._refresh.end()
        if again:
            self._begin()

    def _show(self, kinds: list[Alike], summary: SelectionSummary) -> None:
        self.offers.show_jobs(kinds, self._ids)
        self.about.setText(summary.sentence())
        counts = {one: summary.outcomes[one] for one in Outcome if summary.outcomes[one]}
        if counts != self.counts:
            self.counts = counts
            self._fill()

    def _fill(self) -> None:
        while (gone := self._grid.takeAt(0)) is not None:
            if (widget := gone.widget()) is not None:
                widget.deleteLater()
        for line, (outcome, number) in enumerate(self.counts.items()):
            glyph, style = StateGlyph(self._context.theme), OUTCOME_STYLES[outcome]
            glyph.show_style(style)
            self._grid.addWidget(glyph, line, 0)
            self._grid.addWidget(label(style.word), line, 1)
            count = label(f"{number:,}")
            count.setAccessibleName(f"{style.word}: {number}")
            self._grid.addWidget(count, line, 2)
