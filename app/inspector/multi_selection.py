"""Several selected jobs: how many have which outcome, and what can be done with all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app.actions.table import BY_ID, few
from app.inspector import job_times
from app.inspector.header import JobActions
from app.widgets.labels import label
from app.widgets.state_glyph import StateGlyph
from app.widgets.state_style import OUTCOME_STYLES
from broker_core.jobs.outcome import Outcome, outcome_of
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from app.context import AppContext


class MultiSelection(QWidget):
    """A summary with counts by outcome and the actions that apply to all."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.title, self.about = label(role="title"), label(role="muted", wrap=True)
        self.offers = JobActions(context)
        self.compare = QPushButton("Compare")
        self.compare.clicked.connect(lambda: context.trigger("job.compare"))
        self.counts: dict[Outcome, int] = {}
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
        column.addStretch(1)

    def _restyle(self) -> None:
        self.compare.setIcon(self._context.theme.icon(BY_ID["job.compare"].icon))

    def show_rows(self, rows: list[dict[str, Any]]) -> None:
        """Sum these rows up."""
        self.title.setText(job_times.count(len(rows), "job") + " selected")
        self.about.setText(about(rows))
        self.offers.show_rows(rows)
        self.compare.setVisible(few(rows))
        self.compare.setToolTip(f"{job_times.count(len(rows), 'job')} side by side")
        found = Counter(_outcomes(rows))
        self.counts = {one: found[one] for one in Outcome if found[one]}
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


def _outcomes(rows: list[dict[str, Any]]) -> list[Outcome]:
    return [outcome_of(row["state"], row.get("exit_code")) for row in rows]


def about(rows: list[dict[str, Any]]) -> str:
    """Say in a sentence what matters about these rows: CPUs in all, sites, how many failed."""
    cpus = sum(row.get("cpus") or 1 for row in rows)
    sites = {site_name(row["site"]) for row in rows if row.get("site")}
    bad = _outcomes(rows).count(Outcome.FAILED)
    parts = [f"{job_times.count(cpus, 'CPU')} in all"]
    if sites:
        parts.append(f"at {sites.pop()}" if len(sites) == 1 else f"at {len(sites)} sites")
    if bad:
        parts.append(f"{bad:,} failed")
    return ", ".join(parts) + "."
