"""The Where tab: where a job's description can run, and why not elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.labels import label
from app.inspector.pane import JobPane
from app.match.sending import send_job_again
from app.match.view import MatchView
from broker_core.jobs.site_names import site_name

if TYPE_CHECKING:
    from app.context import Desk
    from app.match.view import Place
    from broker_core.wire.views import JobDetail


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
        self.match.submitAsked.connect(self._submit)

    async def load(self, job: str) -> JobDetail:
        """Ask for the job's description; where it matches is asked by the view."""
        return await self.desk.client.job(job)

    def clear(self) -> None:
        """Forget the job shown before."""
        self.match.ask("")

    def render_answer(self, answer: JobDetail) -> None:
        """Show where it could run, and where the job in fact went."""
        row = self.desk.jobs.row(self.job or "") or {}
        site = row.get("site")
        self.note.setText(
            f"It went to {site_name(site)}. Submitted again now, this is what it would find:" if site else ""
        )
        self.note.setVisible(bool(site))
        self.match.ask(answer.effective or answer.description)

    def _submit(self, place: Place) -> None:
        row = self.desk.jobs.row(self.job or "")
        if row is not None:
            self.desk.run(send_job_again(self.desk, row, place), f"submitting to {place.name}")
