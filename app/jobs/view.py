"""The table widget of the jobs: fixed rows, hover, folding by arrow or key, selection by ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.jobs.columns import BY_NAME, COLUMNS
from app.jobs.delegate import JobsDelegate
from app.jobs.selection import Selected, select_again
from app.jobs.table import JobsTable
from app.widgets.column_widths import ContentColumns
from app.widgets.state_style import StateShape

if TYPE_CHECKING:
    from app.context import AppContext
    from app.theme.theme import Theme


_FLAGS = QItemSelectionModel.SelectionFlag
_NAME = BY_NAME["name"]
_STEP = 300
"""Milliseconds between two steps."""
_BEAT = (1.0, 0.9, 0.75, 0.6, 0.5, 0.6, 0.75, 0.9)
"""Opacity of the glyph, step by step."""
_STATE = BY_NAME["state"]


class JobsView(QTableView):
    """A QTableView over JobsTable; keeps selection, current job and scroll when the view is replaced."""

    selected = Signal()
    """The selection changed."""
    resized = Signal()
    """The room for the columns changed."""
    opened = Signal(str)
    """A job was asked for by Return or a double click."""
    batch_opened = Signal(str)
    """A batch was asked for by a double click with Ctrl; without it the batch is folded."""

    def __init__(self, theme: Theme, table: JobsTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table, self._theme = table, theme
        self.delegate = JobsDelegate(theme, table)
        self._before = Selected()
        self.setModel(table)
        self.setItemDelegate(self.delegate)
        self.setAccessibleName("Jobs")
        self._arrange()
        table.modelAboutToBeReset.connect(self._remember)
        table.rebuilt.connect(self._restore)
        self.selectionModel().selectionChanged.connect(lambda *_: self.selected.emit())
        theme.changed.connect(self._new_theme)
        self._new_theme()

    def _arrange(self) -> None:
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setDragEnabled(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().setVisible(False)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setMinimumSectionSize(40)
        header.setSortIndicatorShown(True)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.contents = ContentColumns(self, self._theme, self.delegate.width_of)
        self.contents.declare([column.width for column in COLUMNS], _NAME)
        for place, column in enumerate(COLUMNS):
            self.setColumnHidden(place, not column.shown)

    def _new_theme(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self._theme.height(self.compact))
        self.viewport().update()
        self.contents.forget()
        self.resized.emit()

    compact = False

    def set_compact(self, compact: bool) -> None:
        """Use rows of 24 pixels instead of 28."""
        self.compact = compact
        self._new_theme()

    # --- selection by ids

    def chosen_lines(self) -> list[int]:
        """Selected lines, from top to bottom."""
        spans = [(span.top(), span.bottom()) for span in self.selectionModel().selection().toList()]
        return sorted({line for top, bottom in spans for line in range(top, bottom + 1)})

    def chosen(self) -> list[str]:
        """Ids of the selected jobs; a batch stands for all of its jobs."""
        found: dict[str, None] = {}
        for line in self.chosen_lines():
            found.update(dict.fromkeys(self.table.ids_at(line)))
        return list(found)

    def choose(self, job: str) -> bool:
        """Select a job, unfolding its batch, and bring it into view; False if the query does not show it."""
        entry = self.table.view.entry_of(job)
        if entry is None:
            return False
        self._unfolded({entry}, [job])
        line = self.table.view.line_of(job)
        index = self.table.index(line, _NAME)
        self.selectionModel().setCurrentIndex(index, _FLAGS.ClearAndSelect | _FLAGS.Rows)
        self.scrollTo(index)
        return True

    def choose_all(self, jobs: Sequence[str]) -> bool:
        """Select jobs (the line of a folded batch for its own); False if the query does not show them all."""
        view = self.table.view
        wanted = {view.entry_of(job) for job in jobs}
        if None in wanted:
            return False
        wanted = self._unfolded(wanted, jobs)
        lines = [line for line, entry in enumerate(view.lines) if entry in wanted]
        selection = QItemSelection()
        for line in lines:
            selection.select(self.table.index(line, 0), self.table.index(line, len(COLUMNS) - 1))
        if lines:
            first = self.table.index(lines[0], _NAME)
            self.selectionModel().setCurrentIndex(first, _FLAGS.NoUpdate)
            self.scrollTo(first)
        self.selectionModel().select(selection, _FLAGS.ClearAndSelect)
        return True

    def _unfolded(self, entries: set[int | None], jobs: Sequence[str]) -> set[int | None]:
        """Unfold the batches of which only some jobs are wanted: their lines stand for all."""
        view, at = self.table.view, self.table.rows.at
        numbers = {at[job] for job in jobs}
        for entry in [one for one in entries if one is not None and one < 0]:
            batch = view.batches[-1 - entry]
            if not numbers.issuperset(batch.rows):
                view.fold(view.lines.index(entry), True)
                entries = entries - {entry} | numbers.intersection(batch.rows)
        return entries

    def _remember(self) -> None:
        top, current = self.rowAt(0), self.currentIndex().row()
        scrolled = self.verticalScrollBar().value() > 0
        self._before = Selected.of(
            self.table, self.chosen_lines(), current, top if scrolled and top >= 0 else -1
        )

    def _restore(self) -> None:
        lines, current, top = select_again(self.table, self._before)
        selection = QItemSelection()
        for line in lines:
            selection.select(self.table.index(line, 0), self.table.index(line, len(COLUMNS) - 1))
        if top >= 0:
            self.scrollTo(self.table.index(top, _NAME), QAbstractItemView.ScrollHint.PositionAtTop)
        if current >= 0:
            self.selectionModel().setCurrentIndex(self.table.index(current, _NAME), _FLAGS.NoUpdate)
        self.selectionModel().select(selection, _FLAGS.ClearAndSelect)
        self.selected.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell that there is more or less room."""
        super().resizeEvent(event)
        self.resized.emit()

    # --- the visible window

    def window_lines(self) -> tuple[int, int]:
        """First and last line in sight; (0, -1) if there are none."""
        total = len(self.table.view.lines)
        if not total:
            return 0, -1
        first = max(0, self.rowAt(0))
        last = self.rowAt(self.viewport().height() - 1)
        return first, total - 1 if last < 0 else last

    # --- mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the line under the pointer."""
        self._hover(self.rowAt(round(event.position().y())))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """No line is under the pointer."""
        self._hover(-1)
        super().leaveEvent(event)

    def _hover(self, line: int) -> None:
        if line != self.delegate.hovered:
            self.delegate.hovered = line
            self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold and unfold by the arrow."""
        index = self.indexAt(event.position().toPoint())
        on_arrow = index.column() == _NAME and self.delegate.name_arrow(
            self.visualRect(index), round(event.position().x())
        )
        batch = self.table.batch_at(index.row()) if on_arrow else None
        if batch:
            self.table.view.fold(index.row(), not batch.open)
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open a job, or fold a batch."""
        index = self.indexAt(event.position().toPoint())
        batch = self.table.batch_at(index.row()) if index.isValid() else None
        if batch and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.batch_opened.emit(batch.id)
        elif index.isValid():
            self._activate(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return opens; right and left unfold and fold a batch."""
        index = self.currentIndex()
        key = event.key()
        if index.isValid() and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._activate(index)
        elif index.isValid() and key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self.table.view.fold(index.row(), key == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)

    def _activate(self, index: QModelIndex) -> None:
        batch = self.table.batch_at(index.row())
        if batch:
            self.table.view.fold(index.row(), not batch.open)
        else:
            self.opened.emit(self.table.id_at(index.row()))


class Pulse(QObject):
    """One timer for all rows, at rest without a broker or without a running job; repaints glyphs in sight."""

    def __init__(self, context: AppContext, view: JobsView) -> None:
        super().__init__(view)
        self._context, self._view, self._step = context, view, 0
        self._timer = QTimer(self, interval=_STEP)
        self._timer.timeout.connect(self._beat)
        context.link.changed.connect(self._look)
        context.jobs.changed.connect(self._look)

    @property
    def beating(self) -> bool:
        """True while the glyphs pulse."""
        return self._timer.isActive()

    def _look(self) -> None:
        wanted = self._context.link.up and self._context.jobs.states["Running"] > 0
        if wanted and not self.beating:
            self._timer.start()
        elif self.beating and not wanted:
            self._timer.stop()
            self._show(0)

    def _beat(self) -> None:
        if self._view.isVisible():
            self._show((self._step + 1) % len(_BEAT))

    def _show(self, step: int) -> None:
        self._step, self._view.delegate.pulse = step, _BEAT[step]
        table = self._view.table
        first, last = self._view.window_lines()
        for line in range(first, last + 1):
            if table.style_of(line).shape is StateShape.FILLED:
                self._view.viewport().update(self._view.visualRect(table.index(line, _STATE)))
