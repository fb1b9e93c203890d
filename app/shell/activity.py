"""The bottom panel: transfers with progress, and everything the desk has told."""

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
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.context import Notice, Tone
from app.model import words
from app.shell.transfers import Transfer

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk

_KEEP = 500
_ICONS = {Tone.NEUTRAL: "info", Tone.GOOD: "circle-check", Tone.WARNING: "triangle-alert",
          Tone.BAD: "circle-alert"}  # fmt: skip
_JOB = Qt.ItemDataRole.UserRole


class NoticeList(QListWidget):
    """Notices, newest first; a double click shows the job one is about."""

    def __init__(self, desk: WindowDesk, only: frozenset[Tone] | None, name: str) -> None:
        super().__init__()
        self._desk, self._only = desk, only
        self.setAccessibleName(name)
        self.setWordWrap(True)
        self.itemActivated.connect(self._open)
        desk.noticed.connect(self.add)

    def add(self, notice: Notice) -> None:
        """Put a notice on top."""
        if self._only and notice.tone not in self._only:
            return
        item = QListWidgetItem(f"{time.strftime('%H:%M:%S')}   {notice.text}")
        item.setIcon(self._desk.theme.icon(_ICONS[notice.tone], notice.tone.value))
        item.setData(_JOB, notice.job)
        self.insertItem(0, item)
        while self.count() > _KEEP:
            self.takeItem(self.count() - 1)

    def _open(self, item: QListWidgetItem) -> None:
        if item.data(_JOB):
            self._desk.show_job(item.data(_JOB))


class TransferLine(QWidget):
    """One piece of work with its progress."""

    def __init__(self, desk: WindowDesk, transfer: Transfer) -> None:
        super().__init__()
        self._transfer = transfer
        self._text, self._bar = QLabel(transfer.title), QProgressBar(textVisible=False)
        self._bar.setAccessibleName(f"Progress of {transfer.title}")
        self._bar.setFixedWidth(200)
        self._state = QLabel()
        self._state.setProperty("role", "small")
        self._stop = QToolButton(icon=desk.theme.icon("x", "muted"), toolTip="Stop")
        self._stop.setAccessibleName(f"Stop {transfer.title}")
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
            or (f"{words.size(transfer.done)} of {words.size(transfer.total)}" if transfer.total else "")
        )


class TransferList(QScrollArea):
    """All transfers of the window, newest first."""

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__()
        self._desk = desk
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
        desk.transfers.changed.connect(self._show)

    def _show(self) -> None:
        wanted = {id(transfer): transfer for transfer in self._desk.transfers.all}
        for key in [key for key in self._lines if key not in wanted]:
            self._lines.pop(key).deleteLater()
        for key, transfer in reversed(wanted.items()):
            if key not in self._lines:
                self._lines[key] = TransferLine(self._desk, transfer)
                self._column.insertWidget(0, self._lines[key])
        self._empty.setVisible(not wanted)


class BottomPanel(QTabWidget):
    """Activity, problems and transfers."""

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.setAccessibleName("Activity")
        bad = frozenset({Tone.BAD, Tone.WARNING})
        self.activity = NoticeList(desk, None, "Activity")
        self.problems = NoticeList(desk, bad, "Problems")
        self.transfers = TransferList(desk)
        for part, name in (
            (self.activity, "Activity"),
            (self.problems, "Problems"),
            (self.transfers, "Transfers"),
        ):
            self.addTab(part, name)
        desk.noticed.connect(self._count)

    def _count(self, _: Notice) -> None:
        number = self.problems.count()
        self.setTabText(1, f"Problems ({number})" if number else "Problems")
