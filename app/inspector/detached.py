"""One tab of the inspector in a window of its own, for a second screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.glyph import face_of
from app.theme import glyphs

if TYPE_CHECKING:
    from app.context import Desk
    from app.inspector.pane import JobPane


class DetachedPane(QWidget):
    """Keeps showing the job it was torn off with, whatever is selected later."""

    closed = Signal(object)
    """This window, when the user closed it."""

    def __init__(self, desk: Desk, pane: JobPane, job: str) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.desk, self.pane, self.job = desk, pane, job
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(pane)
        self.resize(720, 560)
        QShortcut(QKeySequence.StandardKey.Close, self, self.close)
        desk.jobs.changed.connect(self._name_window)
        self._name_window(set())
        pane.show_job(job)

    def _name_window(self, ids: set[str]) -> None:
        row = self.desk.jobs.row(self.job)
        if row is not None and (not ids or self.job in ids):
            face = face_of(row)
            self.setWindowTitle(f"{row.get('name') or self.job}: {self.pane.title.lower()} ({face.word})")
            self.setWindowIcon(glyphs.icon(face.shape, self.desk.theme.color(face.token)))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell the inspector."""
        self.pane.show_job(None)
        self.pane.close_all()
        self.closed.emit(self)
        super().closeEvent(event)
