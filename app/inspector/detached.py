"""A tab of the inspector in a window of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.inspector.view.pane import ViewPane
from app.widgets import glyphs
from app.widgets.job_pane import JobPane
from app.widgets.state_glyph import style_of_row

if TYPE_CHECKING:
    from app.context import AppContext


_USUAL, _WIDE = QSize(720, 560), QSize(1000, 720)


class DetachedPane(QWidget):
    """Keeps showing the job it was detached with, whatever is selected later."""

    closed = Signal(object)
    """This window, when the user closed it."""

    def __init__(self, context: AppContext, pane: JobPane, job: str) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.context, self.pane, self.job = context, pane, job
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "surface")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(pane)
        wanted = _WIDE if isinstance(pane, ViewPane) else _USUAL
        self.resize(wanted.boundedTo(self.screen().availableSize()))
        QShortcut(QKeySequence.StandardKey.Close, self, self.close)
        context.jobs.changed.connect(self._name_window)
        self._name_window(set())
        if isinstance(pane, ViewPane):
            pane.stand_alone()
            pane.parting.connect(self.close)
        pane.show_job(job)

    def _name_window(self, ids: set[str]) -> None:
        row = self.context.jobs.row(self.job)
        if row is not None and (not ids or self.job in ids):
            style = style_of_row(row)
            self.setWindowTitle(f"{row.get('name') or self.job}: {self.pane.title.lower()} ({style.word})")
            self.setWindowIcon(glyphs.icon(style.shape, self.context.theme.color(style.token)))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell the inspector."""
        self.pane.show_job(None)
        self.pane.close_all()
        self.closed.emit(self)
        super().closeEvent(event)
