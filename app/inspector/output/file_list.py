"""The files of a job: name, kind, size, time; can be dragged out to the file manager."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QDrag, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app.inspector import job_times
from app.inspector.output.table_data import looks_like_table
from app.widgets.export import offer_export
from app.widgets.plots.image_view import ENDINGS

if TYPE_CHECKING:
    from pathlib import Path

    from app.context import AppContext
    from app.inspector.save_files import Copies
    from broker_core.wire.views import OutputFile

_ALONE = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_CHANGED = 3
"""Column of how long ago."""
_SECOND_MS = 1000
KINDS = {
    "stdout": "output",
    "stderr": "errors",
    "output": "result",
    "input": "input file",
    "work": "working file",
}
"""Role of a file to the word for it."""


class FileList(QTreeWidget):
    """One line for each file; lines stay where they are while sizes change."""

    def __init__(self, context: AppContext, copies: Copies, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._copies = context, copies
        self.job = ""
        self.files: dict[str, OutputFile] = {}
        self.setHeaderLabels(["Name", "Kind", "Size", "Changed"])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setAccessibleName("Files of the job")
        offer_export(context, self, "files", "file")
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setStyleSheet("QTreeView::item { padding: 0 8px; height: 26px; }")
        self.setIndentation(0)
        header = self.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(48)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2, 3):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self.tell_time)
        self._second.start()
        self.headerItem().setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def show_files(self, job: str, files: list[OutputFile]) -> None:
        """Show these files; the selection stays."""
        self.job = job
        if [one.path for one in files] != list(self.files):
            chosen = {one.path for one in self.chosen()}
            self.clear()
            for one in files:
                item = QTreeWidgetItem(self)
                item.setIcon(0, self._context.theme.icon(_icon(one), "muted"))
                item.setSelected(one.path in chosen)
        self.files = {one.path: one for one in files}
        for place, one in enumerate(files):
            if (shown := self.topLevelItem(place)) is not None:
                self._fill(shown, one)

    def _fill(self, item: QTreeWidgetItem, file: OutputFile) -> None:
        shown = file.path.replace("\n", "⏎").replace("\t", "⇥")
        size = job_times.size(file.size) + (" …" if file.growing else "")
        changed = job_times.ago(file.modified, time.time())
        for column, text in enumerate((shown, KINDS.get(file.role, file.role), size, changed)):
            item.setText(column, text)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setData(0, Qt.ItemDataRole.UserRole, file.path)
        more = "\nIt may still grow." if file.growing else ""
        item.setToolTip(0, f"{file.path}\n{file.size:,} bytes, {job_times.exact(file.modified)}{more}")

    def tell_time(self) -> None:
        """Say again how long ago the files in view changed."""
        if not self.isVisible():
            return
        item, now = self.itemAt(0, 0), time.time()
        while item is not None and self.visualItemRect(item).top() < self.viewport().height():
            file = self.files[item.data(0, Qt.ItemDataRole.UserRole)]
            item.setText(_CHANGED, job_times.ago(file.modified, now))
            item = self.itemBelow(item)

    def chosen(self) -> list[OutputFile]:
        """Return the selected files."""
        paths = [item.data(0, Qt.ItemDataRole.UserRole) for item in self.selectedItems()]
        return [self.files[path] for path in paths if path in self.files]

    def choose(self, path: str) -> None:
        """Select one file."""
        for place, known in enumerate(self.files):
            if known == path and (item := self.topLevelItem(place)) is not None:
                self.setCurrentItem(item, 0, _ALONE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what a narrow pane has no room for; the tooltip still says it."""
        super().resizeEvent(event)
        self.setColumnHidden(1, self.width() < 440)
        self.setColumnHidden(3, self.width() < 300)

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Bring the files here; the drag begins when they are, if the button is still down."""
        if files := self.chosen():
            self._context.run(self._bring(self.job, files), "bringing the files to be dragged")

    async def _bring(self, job: str, files: list[OutputFile]) -> None:
        paths = await asyncio.gather(
            *(self._copies.bring(job, one.path, one.size, one.modified) for one in files)
        )
        if job == self.job:
            # Not from within the task: a drag runs its own event loop, which would hold all other tasks.
            QTimer.singleShot(0, lambda: self._drag(list(paths)))

    def _drag(self, paths: list[Path]) -> None:
        if not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            return
        drag = QDrag(self)
        drag.setMimeData(urls_of(paths))
        drag.setPixmap(self._context.theme.icon("files").pixmap(24, 24))
        drag.exec(Qt.DropAction.CopyAction)


def urls_of(paths: list[Path]) -> QMimeData:
    """Return what a file manager takes: the addresses of local files."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def _icon(file: OutputFile) -> str:
    if file.path.lower().endswith(ENDINGS):
        return "file-image"
    if looks_like_table(file.path):
        return "file-chart-line"
    return "scroll-text" if file.role in ("stdout", "stderr") else "file-text"
