"""How a test of a site goes, in one line with its shape, and the way to the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from app import units
from app.widgets import glyphs
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext
    from app.sites.site_test import Trial


class TrialLine(QFrame):
    """Hidden while there was no test."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.trial: Trial | None = None
        self.setProperty("role", "card")
        self.picture, self.said, self.when = QLabel(), label(wrap=True), label(role="small")
        self.show_job = QPushButton("Show the job")
        self.show_job.setProperty("kind", "quiet")
        self.show_job.setAutoDefault(False)  # Return is for the sheet around
        self.show_job.clicked.connect(self._show_its_job)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.said, 1)
        row.addWidget(self.when)
        row.addWidget(self.show_job)
        self.hide()

    def _show_its_job(self) -> None:
        if self.trial is not None:
            self._context.show_job(self.trial.job, "story")

    def show_trial(self, trial: Trial | None) -> None:
        """Show a test as it goes; None hides the line."""
        self.trial = trial
        self.setVisible(trial is not None)
        if trial is None:
            return
        shape, token = trial.style
        self.picture.setPixmap(
            glyphs.pixmap(shape, self._context.theme.color(token), 16, self.devicePixelRatioF())
        )
        self.said.setText(trial.sentence)
        self.when.setText(units.exact(trial.begun)[11:])
        self.show_job.setVisible(trial.row is not None)
        self.setAccessibleName(f"Test of {trial.site}: {trial.sentence}")
