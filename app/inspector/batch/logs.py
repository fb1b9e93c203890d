"""The logs of up to four jobs of a batch beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSplitter, QStackedLayout, QVBoxLayout, QWidget

from app.inspector.logs.pane import LogsPane
from app.jobs.columns import state_word
from app.widgets.labels import label
from app.widgets.list_state import ListState

if TYPE_CHECKING:
    from app.context import AppContext

MOST = 4
_LEAST = 160
"""Pixels of a log, at least."""


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
        context.jobs.changed.connect(lambda _: self._name())

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
