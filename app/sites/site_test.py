"""A test job at a site, followed until its end, in words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app import units
from app.widgets.state_style import StateShape
from broker_core.errors import CrossDeskError
from broker_core.jobs.outcome import Outcome, outcome_of
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import AppContext

_SHORTEST = 0.1
"""Seconds that are told of a test job, at least."""
_STEPS = {
    JobState.SUBMITTED: "The test job is with the broker.",
    JobState.WAITING: "The test job waits for the site.",
    JobState.READY: "The test job is being sent.",
    JobState.SCHEDULED: "The test job is in the site's queue.",
    JobState.RUNNING: "The test job runs.",
}


class Trial(QObject):
    """Sends the test job and reads its state from the live rows."""

    changed = Signal()

    def __init__(self, context: AppContext, site: str) -> None:
        super().__init__(context.owner)
        self._context, self.site = context, site
        self.job, self.error = "", ""
        self.begun = time.time()
        self._said = ""
        self._refusal = ""
        """What the site said to the first attempt: it would say so in every round."""
        context.jobs.changed.connect(self._rows)

    def begin(self, *, speed: bool = False) -> None:
        """Send the job; `speed`: it measures how fast its node is, too."""
        self._context.run(self._begin(speed), f"testing {self.site}")

    async def _begin(self, speed: bool) -> None:
        try:
            self.job = (await self._context.client.test_site(self.site, speed=speed)).job
        except CrossDeskError as error:
            self.error = str(error)
        self.changed.emit()
        self._rows(set())

    def _rows(self, ids: set[str]) -> None:
        if not self.job or (ids and self.job not in ids):
            return
        row = self.row
        if row is not None and not self._refusal and row["state"] == JobState.WAITING and row["attempt"]:
            self._refusal = str(row["reason"] or "").strip() or "It was refused."
            self._context.run(self._context.client.cancel([self.job]), f"ending the test of {self.site}")
        if self.sentence != self._said:
            self._said = self.sentence
            self.changed.emit()

    @property
    def row(self) -> dict[str, Any] | None:
        """The row of the test job; None before it is there."""
        return self._context.jobs.row(self.job) if self.job else None

    @property
    def over(self) -> bool:
        """True once it is known how it went."""
        row = self.row
        return bool(self.error) or (row is not None and JobState(str(row["state"])).ended)

    @property
    def well(self) -> bool:
        """True if the job ended with exit code 0."""
        row = self.row
        return row is not None and outcome_of(row["state"], row["exit_code"]) is Outcome.DONE

    @property
    def style(self) -> tuple[StateShape, str]:
        """Shape and colour token of how it goes."""
        if not self.over:
            return StateShape.HALF, "accent"
        return (StateShape.CHECK, "positive") if self.well else (StateShape.CROSS, "negative")

    @property
    def sentence(self) -> str:
        """How it goes, or went, in words with the remedy."""
        row = self.row
        if self.error:
            return f"The test job was not taken: {self.error}"
        if row is None:
            return "Sending a test job."
        state = JobState(str(row["state"]))
        if self._refusal:
            return f"The test job was refused: {self._refusal}"
        if not state.ended:
            silent = self._context.sites.unheard(str(row["site"] or ""))
            more = f" The site has not been heard from since {units.exact(silent)}." if silent else ""
            return _STEPS[state] + more
        if self.well:
            seconds = float(row["ended"]) - float(row["submitted"])
            took = units.duration(max(seconds, _SHORTEST))
            return (
                f"It works: a test job ran at {self.site} and its output came back, {took} after it was sent."
            )
        if state is JobState.CANCELED:
            return "The test job was canceled."
        reason = str(row["reason"] or "").strip()
        how = f"ended with exit code {row['exit_code']}" if state is not JobState.ABORTED else "failed"
        return f"The test job {how}{': ' + reason if reason else '. Its story and logs say why.'}"
