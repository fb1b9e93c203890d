"""The curves that several jobs published, in one plot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.compare.compared_job import ComparedJob, titles
from app.inspector.view.curve_data import RecordedRun
from app.inspector.view.following import follow_pause, still_runs
from app.inspector.view.reading import PartRead, plotting_module, read_part
from app.widgets.labels import label
from broker_core.errors import CrossDeskError
from broker_core.jobs.published.recording import Recording

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.view.curves import CurvesView

_NONE = "None of these jobs has published curves. The help page on publishing says how programs do that."


class ComparedCurves(QWidget):
    """A color for each job, a kind of line for each curve; it follows jobs that run while it is seen."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._jobs: Sequence[ComparedJob] = ()
        self.recordings: dict[str, Recording] = {}
        self.problems: dict[str, str] = {}
        """Why what a job published cannot be read."""
        self.curves: CurvesView | None = None
        self.remark = label(role="muted", wrap=True)
        self.remark.setContentsMargins(12, 8, 12, 8)
        self.remark.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._reading = False
        self._again = QTimer(self, singleShot=True)
        self._again.timeout.connect(self._begin)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.remark)

    def show_jobs(self, jobs: Sequence[ComparedJob]) -> None:
        """Compare the curves of these jobs."""
        self._jobs = jobs
        self._begin()

    def close_all(self) -> None:
        """The page goes away."""
        self._jobs = ()
        self._again.stop()

    def _begin(self) -> None:
        if self._jobs and not self._reading:
            self._reading = True
            self._context.run(self._read(), "reading what the jobs published")

    async def _read(self) -> None:
        begun = asyncio.get_running_loop().time()
        try:
            await asyncio.gather(*(self._read_one(job.id) for job in self._jobs))
            if self.curves is None and any(one.curves for one in self.recordings.values()):
                module = await plotting_module("app.inspector.view.curves")
                self.curves = module.CurvesView(self._context)
                self._column.insertWidget(0, self.curves, 1)
        finally:
            self._reading = False
        self._show()
        rows = (self._context.jobs.row(job.id) for job in self._jobs)
        if self.isVisible() and any(map(still_runs, rows)):
            took = asyncio.get_running_loop().time() - begun
            self._again.start(follow_pause(took, quiet=self.curves is None))

    async def _read_one(self, job: str) -> None:
        recording = self.recordings.setdefault(job, Recording())
        self.problems.pop(job, None)
        try:
            while self._jobs and (found := await read_part(self._context.client, job, recording)):
                if found is PartRead.ALL:
                    return
                if found is PartRead.REPLACED:
                    recording = self.recordings[job] = Recording()
        except CrossDeskError as error:
            self.problems[job] = str(error)

    def _show(self) -> None:
        if not self._jobs:
            return
        named = zip(titles(self._jobs), self._jobs, strict=True)
        runs = [
            RecordedRun(name, self.recordings[job.id]) for name, job in named if job.id in self.recordings
        ]
        if self.curves is not None:
            self.curves.show_runs(runs)
        silent = [run.name for run in runs if not run.recording.curves]
        words = [f"{name}: {text}" for name, text in self.problems.items()]
        if len(silent) == len(runs):
            words.insert(0, _NONE)
        elif silent:
            words.insert(0, f"No curves were published by {', '.join(silent)}.")
        self.remark.setText(" ".join(words))
        self.remark.setVisible(bool(words))

    def showEvent(self, event: QShowEvent) -> None:
        """Go on following."""
        super().showEvent(event)
        self._begin()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        self._again.stop()
        super().hideEvent(event)
