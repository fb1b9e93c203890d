"""What the jobs of a batch wrote: the logs of a few beside each other, the output of all as one tree."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.inspector.batch.figures import value_order
from app.inspector.logs.pane import LogsPane
from app.jobs.columns import state_word
from app.stores.slices import breathe, parts
from app.widgets.csv_file import Written
from app.widgets.export import offer_gathered
from app.widgets.labels import label
from app.widgets.list_state import ListState
from broker_core.errors import CrossDeskError
from broker_core.jobs.outcome import outcome_of

if TYPE_CHECKING:
    from app.context import AppContext
    from app.jobs.commands import JobCommands

MOST = 4
_LEAST = 160
"""Pixels of a log, at least."""
_SLICE = 250
"""Lines that are made in one go."""
_JOB = Qt.ItemDataRole.UserRole


class LogsBeside(QWidget):
    """A log for each of the jobs chosen in the table of values."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.jobs: list[str] = []
        self.panes: list[LogsPane] = []
        self._heads: list[QLabel] = []
        self._columns: list[QWidget] = []
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.none = ListState(context.theme)
        self.none.show_state(
            "columns-2",
            "No job is chosen",
            f"Select up to {MOST} jobs in Values; their logs stand here side by side.",
        )
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.none)
        self._stack.addWidget(self.splitter)
        context.jobs.changed.connect(self._name)

    def _add(self) -> None:
        column, head, pane = QWidget(), label(role="strong", fluid=True), LogsPane(self._context)
        column.setMinimumWidth(_LEAST)
        head.setContentsMargins(12, 8, 8, 0)
        inside = QVBoxLayout(column)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        inside.addWidget(head)
        inside.addWidget(pane, 1)
        self._columns.append(column)
        self._heads.append(head)
        self.panes.append(pane)
        self.splitter.addWidget(column)

    def show_jobs(self, jobs: Sequence[str]) -> None:
        """Show the logs of these jobs, of many the first."""
        self.jobs = list(jobs[:MOST])
        while len(self.panes) < len(self.jobs):
            self._add()
        for number, (column, pane) in enumerate(zip(self._columns, self.panes, strict=True)):
            job = self.jobs[number] if number < len(self.jobs) else None
            column.setVisible(job is not None)
            pane.show_job(job)
        self._stack.setCurrentIndex(1 if self.jobs else 0)
        self._name()

    def _name(self) -> None:
        rows = self._context.jobs
        for head, job in zip(self._heads, self.jobs, strict=False):
            if (at := rows.at.get(job)) is not None:
                value = rows.columns["parameter"][at] or rows.columns["name"][at]
                head.setText(f"{value}  ·  {state_word(rows.columns, at, 0.0)}")

    def close_all(self) -> None:
        """Give up what the logs hold."""
        for pane in self.panes:
            pane.close_all()


class OutputsPane(QWidget):
    """A folder for each job that has ended; its files are asked for when it is unfolded."""

    def __init__(self, context: AppContext, jobs: JobCommands) -> None:
        super().__init__()
        self._context, self._jobs = context, jobs
        self._items: dict[str, QTreeWidgetItem] = {}
        self.summary = label(role="muted", fluid=True)
        self.fetch = QPushButton("Fetch all…")
        self.fetch.setEnabled(False)  # until it is known how many there are
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("Output of all jobs")
        self.tree.setHeaderLabels(["Value", "State", "Size"])
        self.tree.setUniformRowHeights(True)
        self.tree.setStyleSheet("QTreeView::item { padding: 0 8px; height: 26px; }")
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head = QHBoxLayout()
        head.addWidget(self.summary, 1)
        head.addWidget(self.fetch)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.tree, 1)
        self.fetch.clicked.connect(lambda: self._jobs.fetch_those(list(self._items)))
        self.tree.itemExpanded.connect(self._expanded)
        self.tree.itemActivated.connect(self._activated)
        context.link.changed.connect(self._offer)
        offer_gathered(context, self.tree, "files", "file", self.gather)

    async def gather(self) -> Written:
        """The files of all jobs that ended, those too that were not unfolded yet; of a job whose files cannot
        be read the reason."""
        rows: list[list[object]] = []
        for job, item in list(self._items.items()):
            about = [item.text(0), job, item.text(1)]
            try:
                files = await self._context.client.files(job)
            except CrossDeskError as error:
                rows.append([*about, "", None, str(error)])
            else:
                rows += [[*about, file.path, file.size, ""] for file in files]
        return Written(["value", "job", "state", "path", "bytes", "problem"], rows)

    async def show_rows(self, numbers: Sequence[int]) -> None:
        """Show the jobs of these rows of the store that have ended; those there stay as they are."""
        columns = self._context.jobs.columns
        state, code = columns["state"], columns["exit_code"]
        ended: dict[str, int] = {}
        for part in parts(numbers):
            ended.update((columns["id"][at], at) for at in part if outcome_of(state[at], code[at]).ended)
            await breathe()
        for job in self._items.keys() - ended.keys():
            self.tree.takeTopLevelItem(self.tree.indexOfTopLevelItem(self._items.pop(job)))
        new = [at for job, at in ended.items() if job not in self._items]
        new.sort(key=lambda at: value_order(columns["parameter"][at] or columns["name"][at]))
        if self._items and len(new) <= _SLICE:  # what was run again stands where it stood
            for at in new:
                self._insert(at)
            new = []
        for few in parts(new, _SLICE):
            made = [self._item(at) for at in few]
            self.tree.addTopLevelItems(made)
            await breathe()
        self.summary.setText(f"Output of {units.count(len(self._items), 'job')} that ended")
        self._offer()

    def _insert(self, at: int) -> None:
        """Put the line of a job among the others, in the order of values."""
        item, tree = self._item(at), self.tree
        key = value_order(item.text(0))
        before = bisect(range(tree.topLevelItemCount()), key, key=lambda one: value_order(_text(tree, one)))
        tree.insertTopLevelItem(before, item)

    def _item(self, at: int) -> QTreeWidgetItem:
        columns = self._context.jobs.columns
        value = columns["parameter"][at] or columns["name"][at]
        item = QTreeWidgetItem([value, state_word(columns, at, 0.0), ""])
        item.setData(0, _JOB, columns["id"][at])
        item.setChildIndicatorPolicy(QTreeWidgetItem.ChildIndicatorPolicy.ShowIndicator)
        self._items[columns["id"][at]] = item
        return item

    def _offer(self) -> None:
        self.fetch.setText(f"Fetch {units.count(len(self._items), 'job')}…")
        self.fetch.setEnabled(bool(self._items) and self._context.link.up)

    def _expanded(self, item: QTreeWidgetItem) -> None:
        if not item.childCount():
            job = item.data(0, _JOB)
            self._context.run(self._fill(job), "asking for the files of a job")

    async def _fill(self, job: str) -> None:
        try:
            files = await self._context.client.files(job)
        except CrossDeskError as error:
            lines = [QTreeWidgetItem([str(error), "", ""])]
        else:
            lines = [QTreeWidgetItem([file.path, "", units.size(file.size)]) for file in files]
            lines = lines or [QTreeWidgetItem(["No files", "", ""])]
        item = self._items.get(job)
        if item is not None and not item.childCount():
            for line in lines:
                line.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.addChildren(lines)

    def _activated(self, item: QTreeWidgetItem) -> None:
        parent = item.parent()
        if parent is not None:
            self._context.show_job(parent.data(0, _JOB), "output")


def _text(tree: QTreeWidget, line: int) -> str:
    item = tree.topLevelItem(line)
    return item.text(0) if item is not None else ""
