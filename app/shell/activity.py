"""The bottom panel: transfers with progress, and everything the desktop has told."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.context import Notice, Tone
from app.shell.activity_log import MOST
from app.stores.transfers import Transfer
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from app.context import AppContext
    from app.shell.window_context import WindowContext

_ICONS = {Tone.NEUTRAL: "info", Tone.GOOD: "circle-check", Tone.WARNING: "triangle-alert",
          Tone.BAD: "circle-alert"}  # fmt: skip
_JOB, _COUNTS = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
"""Job that a notice is about; topic of a notice that the next one of its topic replaces."""


class NoticeList(QListWidget):
    """Notices, newest first; a double click shows the job one is about."""

    def __init__(self, context: WindowContext, only: frozenset[Tone] | None, name: str) -> None:
        super().__init__()
        self._context, self._only = context, only
        self.setAccessibleName(name)
        self.setWordWrap(True)
        self.itemActivated.connect(self._open)
        for entry in context.activity.all:
            self._put(entry.notice, entry.time)
        context.noticed.connect(self.add)

    def add(self, notice: Notice) -> None:
        """Put a notice on top; it takes the place of one that has counted so far."""
        self._put(notice, time.time())

    def _put(self, notice: Notice, moment: float) -> None:
        if notice.topic:
            for row in range(self.count() - 1, -1, -1):
                if self.item(row).data(_COUNTS) == notice.topic:
                    self.takeItem(row)
        if self._only and notice.tone not in self._only:
            return
        item = QListWidgetItem(f"{units.moment(moment, time.time())}   {notice.text}")
        item.setIcon(self._context.theme.icon(_ICONS[notice.tone], notice.tone.value))
        item.setData(_JOB, notice.job)
        item.setData(_COUNTS, notice.topic if notice.counting else "")
        self.insertItem(0, item)
        while self.count() > MOST:
            self.takeItem(self.count() - 1)

    def _open(self, item: QListWidgetItem) -> None:
        if item.data(_JOB):
            self._context.show_job(item.data(_JOB))


class TransferLine(QWidget):
    """One piece of work with its progress."""

    def __init__(self, context: AppContext, transfer: Transfer) -> None:
        super().__init__()
        self._transfer = transfer
        self._text, self._bar = QLabel(transfer.title), QProgressBar(textVisible=False)
        self._bar.setAccessibleName(f"Progress of {transfer.title}")
        self._bar.setFixedWidth(200)
        self._state = QLabel()
        self._state.setProperty("role", "small")
        self._stop = tool_button(context.theme.icon("x", "muted"), "Stop", f"Stop {transfer.title}")
        self._stop.clicked.connect(lambda: transfer.cancel and transfer.cancel())
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 4, 12, 4)
        for part, stretch in ((self._text, 1), (self._state, 0), (self._bar, 0), (self._stop, 0)):
            line.addWidget(part, stretch)
        transfer.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        transfer = self._transfer
        self._bar.setVisible(transfer.running)
        self._stop.setVisible(transfer.running and transfer.cancel is not None)
        self._bar.setRange(0, 1000 if transfer.total else 0)
        self._bar.setValue(round(1000 * transfer.done / transfer.total) if transfer.total else 0)
        self._state.setText(
            transfer.result
            or (f"{units.size(transfer.done)} of {units.size(transfer.total)}" if transfer.total else "")
        )


class TransferList(QScrollArea):
    """All transfers of the window, newest first."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setWidgetResizable(True)
        self.setAccessibleName("Transfers")
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(0, 4, 0, 4)
        self._column.setSpacing(0)
        self._empty = QLabel("Uploads and downloads show their progress here.")
        self._empty.setProperty("role", "muted")
        self._empty.setContentsMargins(12, 8, 12, 8)
        self._column.addWidget(self._empty)
        self._column.addStretch(1)
        self._lines: dict[int, TransferLine] = {}
        self.setWidget(inner)
        context.transfers.changed.connect(self._show)

    def _show(self) -> None:
        wanted = {id(transfer): transfer for transfer in self._context.transfers.all}
        for key in [key for key in self._lines if key not in wanted]:
            self._lines.pop(key).deleteLater()
        for key, transfer in reversed(wanted.items()):
            if key not in self._lines:
                self._lines[key] = TransferLine(self._context, transfer)
                self._column.insertWidget(0, self._lines[key])
        self._empty.setVisible(not wanted)


class BottomPanel(QTabWidget):
    """Notices, problems among them, and transfers."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.setAccessibleName("Activity")
        bad = frozenset({Tone.BAD, Tone.WARNING})
        self.activity = NoticeList(context, None, "Activity")
        self.problems = NoticeList(context, bad, "Problems")
        self.transfers = TransferList(context)
        for part, name in (
            (self.activity, "Notices"),
            (self.problems, "Problems"),
            (self.transfers, "Transfers"),
        ):
            self.addTab(part, name)
        context.noticed.connect(lambda _: self._count())
        self._count()

    def _count(self) -> None:
        number = self.problems.count()
        self.setTabText(1, f"Problems ({number})" if number else "Problems")
