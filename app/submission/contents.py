"""The list of what a submission sends: files with where they come from and their sizes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from app.description.sandbox_files import printable
from app.submission.draft import JobDraft
from app.theme.theme import Theme
from app.units import counted, size_text
from broker_core.client.prepare import Prepared

_JOBS_SHOWN = 500
_FILES_SHOWN = 500


class Contents(QTreeWidget):
    """One job: its files. Several jobs: each with its files below it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(self.tr("What will be sent"))
        self.setHeaderLabels([self.tr("Name"), self.tr("From"), self.tr("Size")])
        self.headerItem().setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setUniformRowHeights(True)
        self.setStyleSheet("QTreeView::item { padding: 4px 8px; }")

    def show_jobs(self, jobs: Sequence[JobDraft], prepared: Sequence[Prepared]) -> None:
        """Fill the list."""
        self.clear()
        single = len(jobs) == 1
        self.setRootIsDecorated(not single)
        for job, ready in list(zip(jobs, prepared, strict=True))[:_JOBS_SHOWN]:
            parent = self.invisibleRootItem() if single else self._job(job, ready)
            self._files(parent, ready)
        self._say_rest(len(jobs))

    def _job(self, job: JobDraft, ready: Prepared) -> QTreeWidgetItem:
        icon = self._theme.icon("file-code") if ready.ok else self._theme.icon("circle-x", "negative")
        said = counted(len(ready.files), self.tr("file"), self.tr("files"))
        if not ready.ok:
            said = ready.errors[0].message if ready.errors else self.tr("cannot be submitted")
        item = QTreeWidgetItem([printable(job.name), said, size_text(ready.size)])
        item.setIcon(0, icon)
        item.setToolTip(1, said)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.addTopLevelItem(item)
        return item

    def _files(self, parent: QTreeWidgetItem, ready: Prepared) -> None:
        for file in ready.files[:_FILES_SHOWN]:
            item = QTreeWidgetItem(
                [printable(file.name), printable(str(file.path.parent)), size_text(file.size)]
            )
            item.setIcon(0, self._theme.icon("terminal" if file.executable else "file"))
            item.setToolTip(1, printable(str(file.path)))
            item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setForeground(1, self._theme.color("muted"))
            parent.addChild(item)

    def _say_rest(self, jobs: int) -> None:
        if jobs > _JOBS_SHOWN:
            rest = counted(jobs - _JOBS_SHOWN, self.tr("more job"), self.tr("more jobs"))
            self.addTopLevelItem(QTreeWidgetItem([self.tr("and {0}").format(rest), "", ""]))
