"""A dropped folder: its descriptions, to be chosen from."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.context import AppContext
from app.description.sandbox_files import printable
from app.submission.draft import JobDraft
from app.submission.sheet_layout import button_row
from app.units import counted
from broker_core.client.programs.file_kind import DESCRIPTIONS

_MOST = 500
_DEPTH = 4
_LOOKED_AT = 20_000


def descriptions_in(folder: Path) -> list[Path]:
    """Description files below a folder, by path; hidden folders are left out, depth and number limited."""
    found: list[Path] = []
    seen = 0
    for where, folders, files in os.walk(folder):
        deep = len(Path(where).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if deep < _DEPTH else []
        found += [Path(where, name) for name in sorted(files) if Path(name).suffix.lower() in DESCRIPTIONS]
        seen += len(files)
        if len(found) >= _MOST or seen > _LOOKED_AT:
            break
    return found[:_MOST]


class FolderSheet(QDialog):
    """Lists the descriptions of a folder with check boxes."""

    chosen = Signal(list)
    """list[Job], in the order listed."""

    def __init__(self, context: AppContext, folder: Path, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._folder = context, folder
        self.setWindowTitle(self.tr("Choose descriptions"))
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Descriptions in the folder"))
        self.list.itemChanged.connect(self._count)
        self.all = QPushButton(self.tr("Select none"))
        self.all.setProperty("kind", "quiet")
        self.all.clicked.connect(self._all_or_none)
        self.go_on = QPushButton()
        self.go_on.setProperty("kind", "primary")
        self._lay_out()
        self._fill(descriptions_in(folder))

    def _lay_out(self) -> None:
        self.resize(520, 400)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        self.headline = QLabel()
        self.headline.setProperty("role", "title")
        self.hint = QLabel()
        self.hint.setProperty("role", "muted")
        self.hint.setWordWrap(True)
        self.list.setIconSize(QSize(16, 16))
        self.list.setStyleSheet("QListView::item { padding: 4px 0 }")
        cancel = QPushButton(self.tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.go_on.clicked.connect(self.accept)
        for part in (self.headline, self.hint, self.list):
            column.addWidget(part)
        column.addLayout(button_row(cancel, self.go_on, self.all))

    def _fill(self, found: list[Path]) -> None:
        for path in found:
            item = QListWidgetItem(self._context.theme.icon("file-code"), printable(str(self._shown(path))))
            item.setData(Qt.ItemDataRole.UserRole, str(path))
            item.setCheckState(Qt.CheckState.Checked)
            self.list.addItem(item)
        name = printable(self._folder.name)
        count = counted(len(found), self.tr("description"), self.tr("descriptions"))
        self.headline.setText(self.tr("{0} in {1}").format(count, name))
        self.hint.setText(
            self.tr("Choose those to submit as one batch. Nothing is sent yet.")
            if found
            else self.tr(
                "A description is a file whose name ends in .jdl. Drop a script or program to run it."
            )
        )
        self.list.setVisible(bool(found))
        self._count()

    def _shown(self, path: Path) -> Path:
        return path.relative_to(self._folder)

    def checked(self) -> list[Path]:
        """The chosen descriptions."""
        items = [self.list.item(row) for row in range(self.list.count())]
        wanted = [item for item in items if item.checkState() == Qt.CheckState.Checked]
        return [Path(item.data(Qt.ItemDataRole.UserRole)) for item in wanted]

    def _count(self) -> None:
        number = len(self.checked())
        self.go_on.setText(self.tr("Continue with {0}").format(number) if number else self.tr("Continue"))
        self.go_on.setEnabled(number > 0)
        self.all.setText(self.tr("Select none") if number else self.tr("Select all"))
        self.all.setVisible(self.list.count() > 1)

    def _all_or_none(self) -> None:
        state = Qt.CheckState.Unchecked if self.checked() else Qt.CheckState.Checked
        for row in range(self.list.count()):
            self.list.item(row).setCheckState(state)

    def open(self) -> None:
        """Show the sheet beside the window, which goes on."""
        self.show()

    def accept(self) -> None:
        """Close and tell what was chosen."""
        jobs = [JobDraft(printable(path.name), path=path) for path in self.checked()]
        super().accept()
        self.chosen.emit(jobs)
