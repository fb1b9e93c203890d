"""Several selected jobs: how many have which outcome, and what can be done with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.inspector import job_times
from app.inspector.header import JobActions
from app.stores.alike import alike
from app.widgets.labels import label
from app.widgets.state_glyph import StateGlyph
from app.widgets.state_style import OUTCOME_STYLES
from broker_core.jobs.outcome import Outcome, outcomes
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from app.context import AppContext


class MultiSelection(QWidget):
    """A summary with counts by outcome, and actions with the number of jobs to which each applies."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.title, self.about = label(role="title"), label(role="muted", wrap=True)
        self.offers = JobActions(context)
        self.counts: dict[Outcome, int] = {}
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 16)
        column.setSpacing(8)
        for part in (self.title, self.about, self.offers):
            column.addWidget(part)
        column.addSpacing(8)
        column.addWidget(label("States", "section"))
        column.addLayout(self._grid)
        column.addStretch(1)

    def show_jobs(self, ids: Sequence[str]) -> None:
        """Sum these jobs up."""
        context, rows = self._context, self._context.jobs
        numbers = [rows.at[job] for job in ids if job in rows.at]
        self.title.setText(job_times.count(len(numbers), "job") + " selected")
        self.offers.show_jobs(alike(rows, ids, context.sites.unheard))
        states, codes = rows.columns["state"], rows.columns["exit_code"]
        found = Counter(outcomes((states[at] for at in numbers), (codes[at] for at in numbers)))
        self.about.setText(self._sentence(numbers, found[Outcome.FAILED]))
        counts = {one: found[one] for one in Outcome if found[one]}
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

    def _sentence(self, numbers: Sequence[int], bad: int) -> str:
        """What matters about these jobs: CPUs in all, sites, how many failed."""
        columns = self._context.jobs.columns
        cpus = sum(columns["cpus"][at] or 1 for at in numbers)
        sites = {site_name(place) for place in {columns["site"][at] for at in numbers} if place}
        parts = [f"{job_times.count(cpus, 'CPU')} in all"]
        if sites:
            parts.append(f"at {sites.pop()}" if len(sites) == 1 else f"at {len(sites)} sites")
        if bad:
            parts.append(f"{bad:,} failed")
        return ", ".join(parts) + "."
