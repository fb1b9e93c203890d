"""Descriptions and logs of several jobs side by side, with what differs marked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QComboBox, QStackedLayout, QVBoxLayout, QWidget

from app import units
from app.inspector.compare.aligned_view import AlignedView
from app.inspector.compare.alignment import align_texts, without_numbers
from app.inspector.compare.compared_job import ComparedJob, FileHead, read_head
from app.inspector.logs.ansi import plain
from app.widgets.empty_state import EmptyState
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from app.widgets.tool_button import tool_button
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext

MOST_BYTES, MOST_LINES = 4 << 20, 20_000
"""Of each log that is compared, from its beginning."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The text of one column."""

    lines: list[str]
    remark: str = ""
    """Why there is nothing, or not all of it."""


class ComparedTexts(QWidget):
    """A bar above an AlignedView. Subclasses say in `read` what the texts are."""

    def __init__(self, context: AppContext, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._jobs: Sequence[ComparedJob] = ()
        self._turn = 0
        self._only = False
        self.view, self.quiet = AlignedView(context, name), EmptyState(context)
        self.summary, self.remarks = label(role="small", fluid=True), label(role="small", wrap=True)
        self.numbers = QCheckBox("Ignore numbers")
        self.numbers.setToolTip("Lines that differ in numbers only, such as times, count as equal")
        icon = context.theme.icon
        self.before = tool_button(icon("chevron-up"), "Previous difference")
        self.next = tool_button(icon("chevron-down"), "Next difference")
        self.bar = FlowLayout(below=4)
        self._lay_out()
        self.numbers.toggled.connect(lambda: self.reload())
        self.before.clicked.connect(lambda: self.view.step(-1))
        self.next.clicked.connect(lambda: self.view.step(1))

    def _lay_out(self) -> None:
        self.bar.setContentsMargins(12, 8, 8, 4)
        for part in self.controls():
            self.bar.addWidget(part)
        self.summary.setContentsMargins(12, 0, 12, 8)
        self.remarks.setContentsMargins(12, 4, 12, 8)
        self.remarks.hide()
        self._pages = QStackedLayout()
        self._pages.addWidget(self.view)
        self._pages.addWidget(self.quiet)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self.bar)
        column.addWidget(self.summary)
        column.addLayout(self._pages, 1)
        column.addWidget(self.remarks)

    def controls(self) -> tuple[QWidget, ...]:
        """What stands in the bar."""
        return self.numbers, self.before, self.next

    async def read(self, jobs: Sequence[ComparedJob]) -> list[Lines]:
        """Return the text of each job. Raises CrossDeskError where nothing can be compared."""
        raise AssertionError(f"{type(self).__name__} must read {len(jobs)} texts")

    def show_jobs(self, jobs: Sequence[ComparedJob]) -> None:
        """Compare these jobs."""
        self._jobs = jobs
        self.reload()

    def reload(self) -> None:
        """Read and compare again; what was read meanwhile for an earlier question is dropped."""
        self._turn += 1
        if len(self._jobs) > 1:
            self.summary.setText("Comparing…")
            self._context.run(self._compare(self._turn, self._jobs), "comparing texts of jobs")

    def close_all(self) -> None:
        """Drop answers on their way."""
        self._turn += 1
        self._jobs = ()

    def set_only_differences(self, on: bool) -> None:
        """Fold what is equal."""
        self._only = on
        self.view.set_only_differences(on)
        self._choose_page()

    async def _compare(self, turn: int, jobs: Sequence[ComparedJob]) -> None:
        found = await self.read(jobs)
        if turn != self._turn:
            return
        key: Callable[[str], str] = without_numbers if self.numbers.isChecked() else str
        texts = [one.lines for one in found]
        content = await asyncio.to_thread(align_texts, texts, key, lambda: turn == self._turn)
        if turn != self._turn:
            return
        self.view.show_content(content)
        self.remarks.setText("\n".join(dict.fromkeys(one.remark for one in found if one.remark)))
        self.remarks.setVisible(bool(self.remarks.text()))
        differing = content.differing
        verb = "differs" if differing == 1 else "differ"
        self.summary.setText(
            f"{units.count(differing, 'line')} {verb}" if differing else "All lines are equal"
        )
        for button in (self.before, self.next):
            button.setEnabled(bool(differing))
        self._choose_page()

    def _choose_page(self) -> None:
        if not any(self.view.content.texts):
            self.quiet.say("scroll-text", "Nothing to compare", "None of these jobs has such a text.")
        elif self._only and not self.view.content.differing:
            self.quiet.say("check", "No differences", "All lines are equal.")
        else:
            self._pages.setCurrentWidget(self.view)
            return
        self._pages.setCurrentWidget(self.quiet)


class ComparedDescriptions(ComparedTexts):
    """The descriptions as the broker runs them."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, "Descriptions side by side", parent)

    async def read(self, jobs: Sequence[ComparedJob]) -> list[Lines]:
        """The texts came with the jobs."""
        return [
            Lines([plain(line) for line in _text_of(job).encode().splitlines()], job.problem) for job in jobs
        ]


def _text_of(job: ComparedJob) -> str:
    return (job.detail.effective or job.detail.description) if job.detail is not None else ""


class ComparedLogs(ComparedTexts):
    """Standard output, or standard error, of the jobs."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        self.chooser = QComboBox()
        self.again = tool_button(context.theme.icon("refresh-cw"), "Read the logs again")
        super().__init__(context, "Logs side by side", parent)
        self.chooser.setAccessibleName("Which log")
        self.chooser.addItem("Output", "stdout")
        self.chooser.addItem("Errors", "stderr")
        self.chooser.currentIndexChanged.connect(lambda: self.reload())
        self.again.clicked.connect(self.reload)

    def controls(self) -> tuple[QWidget, ...]:
        """The choice of the log goes first."""
        return self.chooser, *super().controls(), self.again

    async def read(self, jobs: Sequence[ComparedJob]) -> list[Lines]:
        """Read the beginning of each log, all at the same time."""
        role = self.chooser.currentData()
        return list(await asyncio.gather(*(self._read_log(job, role) for job in jobs)))

    async def _read_log(self, job: ComparedJob, role: str) -> Lines:
        name = str(job.row.get("name") or job.id)
        if job.problem:
            return Lines([], job.problem)
        try:
            files = await self._context.client.files(job.id)
            path = next((file.path for file in files if file.role == role), None)
            if path is None:
                return Lines([], f"{name} has no file for this.")
            head = await read_head(self._context.client, job.id, path, MOST_BYTES)
        except CrossDeskError as error:
            return Lines([], f"{name}: {error}")
        return await asyncio.to_thread(log_lines, head, name)


def log_lines(head: FileHead, name: str) -> Lines:
    """The lines of a log as they are shown, and what of it is left out. For a thread."""
    if b"\0" in head.content[:8192]:
        return Lines([], f"{name}: {units.size(head.size)} that are not text.")
    raw = head.content.split(b"\n")
    if raw[-1] == b"":
        raw.pop()
    cut = head.cut or len(raw) > MOST_LINES
    if head.cut and len(raw) > 1:
        raw.pop()  # it may be half a line
    lines = [plain(line) for line in raw[:MOST_LINES]]
    if not cut:
        return Lines(lines)
    return Lines(
        lines, f"{name}: only the first {len(lines):,} lines of {units.size(head.size)} are compared."
    )
