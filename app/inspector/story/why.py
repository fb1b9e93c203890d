"""Why a job is not running, in words, with what its owner can do (CB-UI-11)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.inspector import job_times
from app.widgets.labels import label, lead
from app.widgets.match_style import sentence
from broker_core.jobs.batch_names import job_name

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.queue import WhyView

_SECOND_MS = 1000


class WhyPanel(QFrame):
    """A headline, the reasons behind it, what would help, and the job that must start first."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.why: WhyView | None = None
        self.setProperty("role", "card")
        self.headline, self.details = label(wrap=True), label(wrap=True)
        self.remedy, self.numbers = label(wrap=True), label(role="small", wrap=True)
        self.first, self.where = QPushButton("Show the job before it"), QPushButton("Where could it run?")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        for part in (self.headline, self.details, self.remedy, self.numbers):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(part)
        row = QHBoxLayout()
        for button in (self.where, self.first):
            button.setProperty("kind", "quiet")
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        self.first.clicked.connect(self._show_first)
        self.where.clicked.connect(self._show_where)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self._tell_numbers)
        self._second.start()
        self.show_why(None)

    def show_why(self, why: WhyView | None) -> None:
        """Show the answer of the broker; None hides the panel."""
        self.why = why
        self.setVisible(why is not None)
        if why is None:
            return
        lead(self.headline, sentence(why.headline))
        self.details.setText("\n".join(map(sentence, why.details)))
        self.details.setVisible(bool(why.details))
        self.remedy.setText(sentence(why.remedy))
        self.remedy.setVisible(bool(why.remedy))
        self.first.setVisible(bool(why.held_back_by))
        self.first.setText(f"Show the job before it: {self._name(why.held_back_by)}")
        self.setAccessibleName(" ".join(["Why it is not running:", why.headline, *why.details, why.remedy]))
        self._tell_numbers()

    def _name(self, job: str) -> str:
        row = self._context.jobs.row(job) if job else None
        return job_name(row["name"], row["parameter"]) if row else job

    def _tell_numbers(self) -> None:
        if self.why is not None:
            self.numbers.setText(numbers(self.why, time.time()))

    def _show_first(self) -> None:
        if self.why is not None and self.why.held_back_by:
            self._context.show_job(self.why.held_back_by, "story")

    def _show_where(self) -> None:
        if self.why is not None:
            self._context.show_job(self.why.job, "where")


def numbers(why: WhyView, now: float) -> str:
    """Say place, how many resources fit now and would fit ever, and when it is tried again."""
    parts = [f"Number {why.place:,} in the queue"] if why.place else []
    if why.known:
        parts.append(_fitting(why))
    if why.next_round is not None:
        left = why.next_round - now
        parts.append(
            f"tried again in {job_times.duration(left)} at the latest" if left >= 1 else "being tried now"
        )
    said = "; ".join(parts)
    return said[:1].upper() + said[1:] + ("." if said else "")


def _fitting(why: WhyView) -> str:
    """How many of the known resources the job fits on."""
    now, ever = (f"{number:,}" if number else "none" for number in (why.matching_now, why.matching_ever))
    known = f" of {job_times.count(why.known, 'resource')}" if why.known > 1 else ""
    return f"{now}{known} {'fits' if why.matching_now < 2 else 'fit'} now, {ever} would when idle"
