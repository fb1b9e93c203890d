"""The Output tab: what a job made, to look at, save, open and drag out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QFileDialog,
    QProgressBar,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.inspector.output.file_list import FileList
from app.inspector.output.preview import Preview
from app.inspector.output.stayed import StayedBar
from app.inspector.save_files import Copies, save_one
from app.widgets.flow_layout import FlowLayout
from app.widgets.job_pane import JobPane
from app.widgets.save_dialog import ask_folder
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import LeftView, OutputFile

_LOOK_MS = 1500
_ORDER = {"output": 0, "stdout": 1, "stderr": 2, "work": 3, "input": 4}


class OutputPane(JobPane):
    """The list of files above, the preview of the chosen one below."""

    title = "Output"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.copies = Copies(context)
        self.list, self.preview = FileList(context, self.copies), Preview(context)
        self.save, self.all, self.open = (
            QPushButton("Save…"),
            QPushButton("Save all…"),
            QPushButton("Open outside"),
        )
        self.inputs = QPushButton()
        self.inputs.setCheckable(True)
        self._found: list[OutputFile] = []
        self.progress = QProgressBar()
        self.stayed = StayedBar(context)
        self.stayed.changed.connect(self.refresh)
        self._fill()
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self.refresh)
        self.list.itemSelectionChanged.connect(self._chosen)
        self.list.itemActivated.connect(lambda *_: self.open_outside())
        self.preview.opened.connect(self.open_outside)

    def _fill(self) -> None:
        bar = FlowLayout()
        bar.setContentsMargins(12, 8, 12, 8)
        for button, icon, does in (
            (self.save, "save", self.save_chosen),
            (self.all, "download", self.ask_folder),
            (self.open, "external-link", self.open_outside),
        ):
            button.setIcon(self.context.theme.icon(icon))
            button.clicked.connect(lambda _=False, does=does: does())
            bar.addWidget(button)
        self.inputs.setProperty("kind", "quiet")
        self.inputs.toggled.connect(lambda _: self._show_files())
        bar.addWidget(self.inputs)
        self.inputs.hide()
        self.progress.setAccessibleName("Saving the output")
        self.progress.setTextVisible(False)
        self.progress.hide()
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.list)
        split.addWidget(self.preview)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        split.setChildrenCollapsible(False)
        column = QVBoxLayout(self.content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.progress)
        column.addWidget(self.stayed)
        column.addWidget(split, 1)

    async def load(self, job: str) -> tuple[list[OutputFile], LeftView | None]:
        """Ask which files there are, and which stayed at the site."""
        files = await self.context.client.files(job)
        state = self._row_state()
        return files, await self.context.client.stayed(job) if state is not None and state.ended else None

    def clear(self) -> None:
        """Forget the files shown before."""
        self._look.stop()
        self._found = []
        self.inputs.setChecked(False)
        self.list.show_files("", [])
        self.preview.show_nothing()
        self.progress.hide()
        self.stayed.show_left("", None)

    def render_answer(self, answer: tuple[list[OutputFile], LeftView | None]) -> None:
        """Show the files; the first one worth a look is chosen."""
        found, left = answer
        self.stayed.show_left(self.job or "", left)
        self._found = sorted(found, key=lambda one: (_ORDER.get(one.role, 9), one.path))
        growing = any(one.growing for one in found)
        self._look.start() if growing else self._look.stop()
        if not found and self.stayed.isHidden():
            self._say_nothing()
            return
        self._show_files()

    def _show_files(self) -> None:
        """What was sent with the job is no result: it is shown when it is asked for."""
        sent = sum(1 for one in self._found if one.role == "input")
        self.inputs.setVisible(bool(sent))
        does = "Hide" if self.inputs.isChecked() else "Show"
        self.inputs.setText(f"{does} {units.count(sent, 'input file')}")
        files = [one for one in self._found if self.inputs.isChecked() or one.role != "input"]
        fresh = not self.list.files
        self.list.show_files(self.job or "", files)
        if files and (fresh or not self.list.chosen()):
            self.list.choose(next((one for one in files if one.size), files[0]).path)
        self._chosen()

    def _row_state(self) -> JobState | None:
        row = self.context.jobs.row(self.job or "")
        return JobState(row["state"]) if row else None

    def _say_nothing(self) -> None:
        state = self._row_state()
        if state is JobState.RUNNING:
            self.show_empty_state(
                "package-open", "No files yet", "The job is running; files appear as it makes them."
            )
        elif state is not None and state.active:
            self.show_empty_state("package-open", "Not yet", "Files appear here once the job runs.")
        else:
            self.show_empty_state(
                "package-open",
                "No files",
                "The job left none.",
            )

    def _chosen(self) -> None:
        files = self.list.chosen()
        state = self._row_state()
        ended = state is not None and state.ended
        self.save.setEnabled(len(files) == 1)
        self.open.setEnabled(len(files) == 1)
        self.all.setEnabled(ended and not self.progress.isVisible())
        self.all.setToolTip(
            "Save every file in a new folder" if ended else "All of it can be saved when the job has ended"
        )
        if len(files) == 1 and self.job:
            self.preview.show_file(self.job, files[0])
        elif not files:
            self.preview.show_nothing()

    def save_chosen(self) -> None:
        """Ask where to, and save the chosen file."""
        if self.job and (files := self.list.chosen()):
            save_one(self, self.context, self.job, files[0].path)

    def ask_folder(self) -> QFileDialog | None:
        """Ask for a folder, and save everything in a new folder there."""
        job = self.job
        if job is None:
            return None
        return ask_folder(
            self, "Save all in", self.context.preferences, lambda folder: self.save_all(job, folder)
        )

    def save_all(self, job: str, folder: Path) -> None:
        """Save everything in a new folder below `folder`; a Done job becomes Cleared."""
        self.progress.setRange(0, 0)
        self.progress.show()
        self.all.setEnabled(False)
        self.context.run(self._save_all(job, folder), "saving the output")

    async def _save_all(self, job: str, folder: Path) -> None:
        from app.jobs.fetching import fetch_jobs

        def tell(done: int, total: int) -> None:
            if job == self.job:
                self.progress.setRange(0, 1000)
                self.progress.setValue(int(1000 * done / total) if total else 1000)

        try:
            await fetch_jobs(self.context, [job], folder, tell)
        finally:
            self.progress.hide()
            self._chosen()

    def open_outside(self) -> None:
        """Open a copy of the chosen file in its own program."""
        if self.job and (files := self.list.chosen()):
            self.context.run(self._open(self.job, files[0]), f"opening {files[0].path}")

    async def _open(self, job: str, file: OutputFile) -> None:
        path = await self.copies.bring(job, file.path, file.size, file.modified)
        QTimer.singleShot(0, lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))))
