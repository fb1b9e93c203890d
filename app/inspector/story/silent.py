"""A job at a site that is not heard from: what that means, and what its owner can do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import units
from app.sites.site_style import state_sentence
from app.widgets.labels import label, lead
from app.widgets.state_style import AT_SITE

if TYPE_CHECKING:
    from app.context import AppContext

_SECOND_MS = 1000


class SilentPanel(QFrame):
    """Shown while the job is somewhere and that place is silent."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._job = context, ""
        self.setProperty("role", "card")
        self.headline, self.said = label(wrap=True), label(role="muted", wrap=True)
        self.site, self.elsewhere = QPushButton("Show the site"), QPushButton("Run elsewhere…")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        for part in (self.headline, self.said):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(part)
        row = QHBoxLayout()
        for button in (self.site, self.elsewhere):
            button.setProperty("kind", "quiet")
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        self.site.clicked.connect(self._show_site)
        self.elsewhere.clicked.connect(self._run_elsewhere)
        context.sites.changed.connect(self.tell)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self.tell)
        self._second.start()
        self.hide()

    def show_job(self, job: str) -> None:
        """Say how things stand for this job; empty: for none."""
        self._job = job
        self.tell()

    def tell(self) -> None:
        """Say it as it is now."""
        row = self._context.jobs.row(self._job) if self._job else None
        place = row["site"] if row is not None and row["state"] in AT_SITE else ""
        since, site = self._context.sites.unheard(place), self._context.sites.at(place)
        self.setVisible(since is not None)
        if since is None or site is None or row is None:
            return
        now = time.time()
        silent = f"{site.name}: not heard from since {units.since(since, now)}."
        lead(self.headline, f"{silent} {state_sentence(site, now)}")
        self.said.setText(
            f"The job was {row['state']} then. It may go on there, and nothing is lost: what it did "
            "meanwhile shows as soon as the site is heard again."
        )

    def _show_site(self) -> None:
        row = self._context.jobs.row(self._job)
        site = self._context.sites.at(row["site"]) if row is not None else None
        if site is not None:
            self._context.show_site(site.name)

    def _run_elsewhere(self) -> None:
        self._context.show_job(self._job)
        self._context.trigger("job.elsewhere")
