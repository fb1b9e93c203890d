"""Files that several jobs made: which of them differ, and a look into one file of all jobs side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSplitter, QVBoxLayout, QWidget

from app.inspector.compare.compared_job import ComparedJob, read_head, titles
from app.inspector.compare.fact_table import FactTable
from app.inspector.compare.facts import Fact, version_words
from app.inspector.output.preview import Preview
from app.widgets.export import offer_export
from app.widgets.labels import label
from broker_core.errors import CrossDeskError
from broker_core.wire.views import OutputFile

if TYPE_CHECKING:
    from app.context import AppContext

MOST_HASHED = 8 << 20
"""Bytes of a file up to which its content is compared; of larger ones the size alone."""
MOST_FILES = 500
"""Names of files that are listed."""
_LEAST = 168
"""Pixels of one preview."""
Files = Mapping[str, OutputFile]
"""The files of one job by their paths."""


class ComparedOutputs(QWidget):
    """The table of files above, a preview for each job below."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._jobs: Sequence[ComparedJob] = ()
        self._turn = 0
        self.files: list[Files] = []
        self.table = FactTable(context.theme, "Files of the jobs")
        offer_export(context, self.table, "files", "file")
        self.summary = label(role="small", wrap=True)
        self.previews: list[Preview] = []
        self._labels: list[QLabel] = []
        self._lay_out()
        self.table.chosen.connect(lambda _: self._show_chosen())

    def _lay_out(self) -> None:
        self.summary.setContentsMargins(12, 8, 12, 8)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(1)
        inner = QWidget()
        inner.setLayout(self._row)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(self.table)
        split.addWidget(area)
        split.setStretchFactor(1, 1)
        split.setSizes([160, 400])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.summary)
        column.addWidget(split, 1)

    def show_jobs(self, jobs: Sequence[ComparedJob]) -> None:
        """Compare the files of these jobs."""
        self._jobs = jobs
        names = titles(jobs)
        while len(self.previews) < len(jobs):
            self._add_preview()
        for title, name in zip(self._labels, names, strict=True):
            title.setText(name)
        self._turn += 1
        self._context.run(self._compare(self._turn, jobs), "comparing output files")

    def _add_preview(self) -> None:
        preview, side = Preview(self._context), QWidget()
        side.setMinimumWidth(_LEAST)
        title = label(role="strong", fluid=True)
        title.setContentsMargins(12, 6, 12, 2)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(title)
        column.addWidget(preview, 1)
        self.previews.append(preview)
        self._labels.append(title)
        self._row.addWidget(side, 1)

    def close_all(self) -> None:
        """Drop answers on their way."""
        self._turn += 1
        self._jobs = ()

    def set_only_differences(self, on: bool) -> None:
        """Leave out files that are equal in all jobs."""
        self.table.set_only_differences(on)

    async def _compare(self, turn: int, jobs: Sequence[ComparedJob]) -> None:
        files = list(await asyncio.gather(*map(self._files_of, jobs)))
        if turn != self._turn:
            return
        self.files = files
        names = sorted({name for found in files for name in found})
        found: list[Fact] = []
        for name in names[:MOST_FILES]:
            found.append(await self._compared(name, jobs, files))
            if turn != self._turn:
                return
        current = self.table.fact()
        self.table.show_facts(found, titles(jobs))
        self.summary.setText(_summary(found, len(names), len(jobs)))
        self._choose(current.name if current is not None else "")

    async def _files_of(self, job: ComparedJob) -> Files:
        try:
            return {one.path: one for one in await self._context.client.files(job.id)}
        except CrossDeskError:
            return {}  # the page says of the job itself what is the matter with it

    async def _compared(self, name: str, jobs: Sequence[ComparedJob], files: Sequence[Files]) -> Fact:
        """Compare one file; its content is read only where all that have it have as much of it."""
        held = [found.get(name) for found in files]
        sizes = [None if one is None else one.size for one in held]
        known = {size for size in sizes if size is not None}
        versions: list[str | None] = [None if size is None else str(size) for size in sizes]
        compared = True
        if len(known) == 1 and sum(size is not None for size in sizes) > 1:
            compared = max(known) <= MOST_HASHED
            if compared:
                versions = list(await asyncio.gather(*(
                    self._version(job.id, one) for job, one in zip(jobs, held, strict=True)
                )))  # fmt: skip
        words = version_words(sizes, versions)
        if not compared:
            words = tuple(f"{one}, content not compared" for one in words)
        return Fact("", name, words, compared)

    async def _version(self, job: str, file: OutputFile | None) -> str | None:
        """What is equal where the content is."""
        if file is None:
            return None
        try:
            head = await read_head(self._context.client, job, file.path, MOST_HASHED)
        except CrossDeskError as error:
            return f"unreadable: {error}"
        return (await asyncio.to_thread(sha256, head.content)).hexdigest()

    def _choose(self, name: str) -> None:
        """Choose a file: the one of this name, else one that differs and is no log."""
        rows = [(at, row) for at, row in enumerate(self.table.model_.rows) if isinstance(row, Fact)]
        if not rows:
            for preview in self.previews:
                preview.show_nothing()
            return
        same = [at for at, row in rows if row.name == name]
        telling = [at for at, row in rows if row.differs and self._role(row.name) == "output"]
        self.table.selectRow((same or telling or [rows[0][0]])[0])
        self._show_chosen()

    def _role(self, name: str) -> str:
        return next((found[name].role for found in self.files if name in found), "")

    def _show_chosen(self) -> None:
        fact = self.table.fact()
        if fact is None:
            return
        for job, found, preview in zip(self._jobs, self.files, self.previews, strict=False):
            if fact.name in found:
                preview.show_file(job.id, found[fact.name])
            else:
                preview.show_absent(fact.name)


def _summary(found: Sequence[Fact], names: int, jobs: int) -> str:
    """Say how many files there are and how many differ."""
    if not found:
        return "None of these jobs has files that can be read."
    differing = sum(one.differs for one in found)
    words = f"{differing:,} of {len(found):,} files differ between the {jobs} jobs."
    return words if names <= MOST_FILES else f"{words} Only the first {MOST_FILES} of {names:,} are listed."
