"""Files and folders that the user chooses: the dialog, where to save, and what is said on failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QSize, QStandardPaths
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QHeaderView, QListView, QSplitter, QTreeView, QWidget

from app.stores.preferences import Preferences
from app.stores.saved_queries import SavedQueries
from broker_core.errors import CrossDeskError

_WIDTH, _HEIGHT = 840, 520
_ICON, _ROW = 16, 24
_BESIDE = 160
"""Pixels of the list of folders at the left."""


class FileDialog(QFileDialog):
    """Qt's own dialog, with columns and icons that fit: nothing is cut while its parent has room for it."""

    def __init__(self, parent: QWidget, title: str, folder: str = "") -> None:
        super().__init__(parent, title, folder)
        window = parent.window().size()
        self.resize(QSize(_WIDTH, _HEIGHT).boundedTo(window))

    def showEvent(self, event: QShowEvent) -> None:
        """The parts of the dialog are there once it is shown, unless the system has one of its own."""
        super().showEvent(event)
        beside, files = self.findChild(QListView, "sidebar"), self.findChild(QTreeView, "treeView")
        splitter = self.findChild(QSplitter, "splitter")
        if beside is None or files is None or splitter is None:
            return
        beside.setIconSize(QSize(_ICON, _ICON))
        beside.setStyleSheet(f"QListView::item {{ min-height: {_ROW}px; }}")
        splitter.setSizes([_BESIDE, self.width() - _BESIDE])
        head = files.header()
        head.setStretchLastSection(False)
        for column in range(1, head.count()):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)


def downloads() -> str:
    """Return the folder that files are offered to be saved in."""
    kind = QStandardPaths.StandardLocation.DownloadLocation
    return QStandardPaths.writableLocation(kind) or QDir.homePath()


def ask_where(
    parent: QWidget,
    title: str,
    save: Callable[[Path], None],
    *,
    name: str = "",
    folder: str = "",
    suffix: str = "",
    filters: Sequence[str] = (),
) -> QFileDialog:
    """Ask for a file, offering `name` in `folder` (the downloads), and hand what was chosen to `save`."""
    dialog = FileDialog(parent, title, folder or downloads())
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setDefaultSuffix(suffix)
    if filters:
        dialog.setNameFilters(list(filters))
    if name:
        dialog.selectFile(name)
    dialog.fileSelected.connect(lambda chosen: save(Path(chosen)))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def last_folder(preferences: Preferences) -> Path | None:
    """The folder that output was saved in last; None if there is none, or none any more."""
    last = preferences["output_folder"]
    return Path(last) if last and Path(last).is_dir() else None


def project_folder(saved: SavedQueries) -> Path | None:
    """The folder of the project that is shown, though it may not be there yet; None if none is shown."""
    project = saved.project
    return Path(project.folder).expanduser() if project is not None else None


def output_folder(preferences: Preferences, saved: SavedQueries) -> Path | None:
    """Where output goes without a question: the folder of the project that is shown; else the one chosen
    last, None if there is none."""
    return project_folder(saved) or last_folder(preferences)


def ask_folder(
    parent: QWidget,
    title: str,
    preferences: Preferences,
    save: Callable[[Path], None],
    *,
    remember: bool = True,
) -> QFileDialog:
    """Ask for a folder, offering the one that was chosen last, and hand it to `save`.

    `remember`: it is the one chosen last from then on.
    """
    dialog = FileDialog(parent, title, str(last_folder(preferences) or downloads()))
    dialog.setFileMode(QFileDialog.FileMode.Directory)

    def chosen(folder: str) -> None:
        if remember:
            preferences["output_folder"] = folder
        save(Path(folder))

    dialog.fileSelected.connect(chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def not_saved(what: str, path: Path, error: OSError) -> CrossDeskError:
    """Return what to tell when `what` (a noun) cannot be written to `path`."""
    return CrossDeskError(
        f"{what} cannot be saved: {error.strerror or error}.",
        place=str(path),
        remedy="Choose a folder that you may write to.",
    )
