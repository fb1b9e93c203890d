"""The view that draws any number of the outputs against the values of a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.inspector.batch.figures import value_order
from app.inspector.batch.numbers import (
    NumberNotFound,
    NumberQuestion,
    NumberSource,
    named_by_value,
    names_in,
)
from app.stores.slices import breathe, parts
from app.widgets import qt_types
from app.widgets.csv_file import Written
from app.widgets.export import ExportButton
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import label
from broker_core.errors import CrossDeskError
from broker_core.jobs.outcome import Outcome, outcome_of

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.batch.scatter import ScatterPlot
    from broker_core.client.client import BrokerClient

_HINTS = {
    NumberSource.COLUMN: "Name of the column",
    NumberSource.KEY: "Key, for example fit.slope",
    NumberSource.PATTERN: r"For example: energy = ([-\d.e]+)",
}
_NOTHING = (
    "Choose a file and what to look for in it: the last number found in each job that is done is drawn."
)


_TABLES = (".csv", ".tsv", ".json")
"""Endings of files that are likeliest to hold the numbers."""
MOST = 2000
"""Jobs whose output is read, at most."""
_AT_A_TIME = 8
_LENGTH = 1 << 20
"""Bytes that are read of a file, at most."""


@dataclass(slots=True)
class NumbersFound:
    """What reading brought."""

    numbers: dict[str, float] = field(default_factory=dict)
    """Job to its number."""
    missing: dict[str, str] = field(default_factory=dict)
    """Job to why it has none."""


async def read_numbers(
    client: BrokerClient, question: NumberQuestion, jobs: Mapping[str, str], progress: Callable[[int], None]
) -> NumbersFound:
    """Ask the question of the files of these jobs, each with its value; `progress` gets the number of jobs
    answered."""
    found, waiting = NumbersFound(), iter(jobs.items())

    async def read_on() -> None:
        for job, value in waiting:
            try:
                part = await client.read_file(job, question.file_of(value), 0, _LENGTH)
                found.numbers[job] = await asyncio.to_thread(question.answer, part.content)
            except (NumberNotFound, CrossDeskError) as error:
                found.missing[job] = str(error)
            progress(len(found.numbers) + len(found.missing))

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_A_TIME):
            group.create_task(read_on())
    return found


class PlotPane(QWidget):
    """Asks which number is wanted, reads it from each job that is done, and draws it."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._done: list[int] = []
        self._offered = ""
        self._reading: asyncio.Future[None] | None = None
        self.found = NumbersFound()
        self.names: list[str] = []
        """Columns or keys of the chosen file, which are offered."""
        self.plot: ScatterPlot | None = None
        self.file, self.source, self.what = QComboBox(), QComboBox(), QLineEdit()
        self.go = QPushButton("Plot")
        self.export = ExportButton(context, "the numbers", "number", self._gather)
        self.progress, self.note = QProgressBar(), label(_NOTHING, "muted", wrap=True)
        self._lay_out()
        self.source.currentIndexChanged.connect(lambda _: self._hint())
        self.source.activated.connect(lambda _: self._offer_names())
        self.file.activated.connect(lambda _: self._offer_names(follow=True))
        self.go.clicked.connect(self.start)
        self.what.returnPressed.connect(self.start)
        self._hint()

    def _lay_out(self) -> None:
        self.file.setEditable(True)
        self.file.setMinimumWidth(180)
        self.what.setMinimumWidth(180)
        for entry, name in ((self.file, "File"), (self.source, "What to look for"), (self.what, "Its name")):
            entry.setAccessibleName(name)
        for source in NumberSource:
            self.source.addItem(source.value, source)
        form = QWidget()
        flow = FlowLayout(form)
        for part in (self.file, self.source, self.what, self.go, self.export):
            flow.addWidget(part)
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self.progress.hide()
        self.export.setEnabled(False)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 8, 16, 12)
        self._column.setSpacing(8)
        for row in (form, self.progress, self.note):
            self._column.addWidget(row)
        self._column.addStretch(1)

    def _hint(self) -> None:
        self.what.setPlaceholderText(_HINTS[self.source.currentData()])

    async def show_rows(self, numbers: Sequence[int]) -> None:
        """Take the jobs of these rows of the store; the files of the first that is done are offered."""
        columns = self._context.jobs.columns
        state, code = columns["state"], columns["exit_code"]
        done: list[int] = []
        for part in parts(numbers):
            done += (at for at in part if outcome_of(state[at], code[at]) is Outcome.DONE)
            await breathe()
        self._done = done
        self.go.setEnabled(bool(self._done))
        if self._done and not self._offered and self._context.link.up:
            self._offered = columns["id"][self._done[0]]
            made = await self._made_by(self._done[0])
            if len(self._done) > 1:
                last = self._done[-1]
                value, other = columns["parameter"][self._done[0]], columns["parameter"][last]
                made = named_by_value(made, value, await self._made_by(last), other)
            self.file.addItems(sorted(made, key=lambda path: not path.endswith(_TABLES)))
            self.file.setCurrentIndex(0)
            if (edit := self.file.lineEdit()) is not None:
                edit.setCursorPosition(0)

            self._offer_names(follow=True)

    def _offer_names(self, follow: bool = False) -> None:
        """Offer the columns or keys of the chosen file; `follow`: what to look for is as the file is."""
        path = self.file.currentText().strip()
        if not path or not self._done:
            return
        if follow:
            kind = NumberSource.KEY if path.endswith(".json") else NumberSource.COLUMN
            kind = kind if path.endswith(_TABLES) else NumberSource.PATTERN
            self.source.setCurrentIndex(self.source.findData(kind))
        self._context.run(self._read_names(path), "looking what can be drawn")

    async def _read_names(self, path: str) -> None:
        columns, first = self._context.jobs.columns, self._done[0]
        question = NumberQuestion(path, NumberSource(self.source.currentData()), "")  # Qt gives a plain str
        file = question.file_of(columns["parameter"][first])
        try:
            part = await self._context.client.read_file(columns["id"][first], file, 0, _LENGTH)
        except CrossDeskError:
            return  # plotting tells of it
        before = ("", *self.names)
        self.names = await asyncio.to_thread(names_in, question.source, part.content)
        completer = QCompleter(self.names, self.what)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.what.setCompleter(completer)
        if self.names and self.what.text() in before:
            self.what.setText(self.names[-1])

    async def _made_by(self, row: int) -> list[str]:
        files = await self._context.client.files(self._context.jobs.columns["id"][row])
        return [file.path for file in files if file.role not in ("stderr", "input")]

    def start(self) -> None:
        """Read and draw; what is being read already is given up."""
        if not self.what.text().strip() or not self.file.currentText().strip():
            self.note.setText("Say in which file, and what to look for in it.")
            return
        if self._reading is not None:
            self._reading.cancel()
        self._reading = self._context.run(self._read(), "reading the outputs of the batch")

    async def _read(self) -> None:
        columns = self._context.jobs.columns
        question = NumberQuestion(
            self.file.currentText().strip(), self.source.currentData(), self.what.text().strip()
        )
        rows = self._done[:MOST]
        self.progress.setRange(0, len(rows))
        self.progress.setValue(0)
        self.progress.show()
        self.note.setText(f"Reading {question.path} of {units.count(len(rows), 'job')}…")
        try:
            jobs = {columns["id"][at]: columns["parameter"][at] for at in rows}
            self.found = await read_numbers(self._context.client, question, jobs, self.progress.setValue)
        finally:
            self.progress.hide()
        await self._draw(question)

    async def _draw(self, question: NumberQuestion) -> None:
        if self.plot is None:
            for _ in qt_types.in_steps():
                await breathe()
            scatter = await asyncio.to_thread(import_module, "app.inspector.batch.scatter")
            self.plot = scatter.ScatterPlot(self._context.theme)
            self._column.insertWidget(3, self.plot, 1)
        values = self._values()
        ordered = sorted(self.found.numbers, key=lambda job: value_order(values[job]))
        self.plot.setVisible(bool(ordered))
        self.plot.show_points(
            [values[job] for job in ordered],
            [self.found.numbers[job] for job in ordered],
            "Value",
            question.what,
        )
        self.note.setText(self._sentence())
        self.export.setEnabled(bool(ordered))

    def _values(self) -> dict[str, str]:
        rows = self._context.jobs
        names, values, at = rows.columns["name"], rows.columns["parameter"], rows.at
        return {job: values[at[job]] or names[at[job]] for job in self.found.numbers if job in at}

    def _sentence(self) -> str:
        found, missing = self.found.numbers, self.found.missing
        sentences = [
            f"{units.count(len(found), 'number')} of {units.count(len(found) + len(missing), 'job')}."
        ]
        if len(self._done) > MOST:
            sentences.append(f"Only the first {MOST:,} of {len(self._done):,} jobs that are done were read.")
        if missing:
            why = next(iter(missing.values()))
            sentences.append(f"{units.count(len(missing), 'job has', 'jobs have')} none: {why}")
        return " ".join(sentences)

    async def _gather(self) -> Written:
        values = self._values()
        rows = [[job, values[job], number] for job, number in self.found.numbers.items() if job in values]
        return Written(("job", "value", "number"), rows)
