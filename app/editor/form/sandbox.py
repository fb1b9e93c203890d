"""The list of files that travel with a job, with sizes and the running total against the limit."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.description.sandbox_files import SandboxItem, looked_up
from app.description.values import list_source, strings_of
from app.editor.form.fields import FieldWidget
from app.editor.form.plan import FormField
from app.theme.theme import Theme
from app.units import size
from app.widgets.flow_layout import FlowLayout
from app.widgets.save_dialog import FileDialog

_ROWS_SHOWN = 4


class SandboxField(FieldWidget):
    """The input sandbox: entries as written, what each is on disk, add and remove."""

    totalChanged = Signal(int)
    """Bytes of all entries that were found."""

    def __init__(self, field: FormField, theme: Theme, limit: int) -> None:
        super().__init__(field)
        self._theme, self._limit, self._base = theme, limit, Path.home()
        self.entries: tuple[SandboxItem, ...] = ()
        self.table = self._make_table()
        self.total = QLabel()
        self.total.setFont(theme.font("small"))
        self.bar = QProgressBar()
        self._lay_out()
        self._fit_table()
        theme.changed.connect(self._fill)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, 2)
        table.setHorizontalHeaderLabels([self.tr("File"), self.tr("Size")])
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(24)
        for column, side in enumerate((Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)):
            if (head := table.horizontalHeaderItem(column)) is not None:
                head.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        table.setShowGrid(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._name(table)
        delete = QShortcut(QKeySequence.StandardKey.Delete, table, self.remove_selected)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        return table

    def _lay_out(self) -> None:
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self.table)
        column.addLayout(self._share())
        buttons = FlowLayout()
        add = QPushButton(self._theme.icon("plus"), self.tr("Add files…"))
        add.clicked.connect(self._choose)
        self.remove = QPushButton(self._theme.icon("minus"), self.tr("Remove"))
        self.remove.clicked.connect(self.remove_selected)
        for part in (add, self.remove):
            buttons.addWidget(part)
        self.setFocusProxy(add)  # the table is not shown while it is empty, and Tab would end here
        column.addLayout(buttons)
        self.row.addLayout(column)
        self.table.itemSelectionChanged.connect(self._selection_changed)

    def _share(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._make_bar(), 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.total)
        return row

    def _make_bar(self) -> QWidget:
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(4)
        self.bar.setRange(0, 1000)
        self.bar.setAccessibleName(self.tr("Share of the limit that the files use"))
        return self.bar

    def set_base(self, base: Path) -> None:
        """Relative entries are looked for below `base`."""
        self._base = base

    def _show(self, source: str | None) -> bool:
        values = [] if source is None else strings_of(source)
        if values is not None:
            found = looked_up(values, self._base)
            if found != self.entries:
                self.entries = found
                self._fill()
        self._show_total()
        return values is not None

    def _fit_table(self) -> None:
        """As high as its rows, up to some; gone while there is none."""
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(head + 24 * min(_ROWS_SHOWN, len(self.entries)) + 4)
        self.table.setVisible(bool(self.entries))

    def _fill(self) -> None:
        chosen = {index.row() for index in self.table.selectedIndexes()}
        self.table.setRowCount(len(self.entries))
        self._fit_table()
        for row, entry in enumerate(self.entries):
            self._fill_row(row, entry)
        for row in chosen:
            if row < len(self.entries):
                self.table.selectRow(row)

    def _fill_row(self, row: int, entry: SandboxItem) -> None:
        name, amount = QTableWidgetItem(entry.shown), QTableWidgetItem(entry.fault or size(entry.size))
        name.setToolTip(entry.written)
        amount.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        token = "negative" if entry.fault else "text"
        for column, item in enumerate((name, amount)):
            item.setForeground(self._theme.color(token))
            self.table.setItem(row, column, item)

    def _show_total(self) -> None:
        total = sum(entry.size for entry in self.entries)
        over = total > self._limit
        self.total.setText(self.tr("{0} of {1}").format(size(total), size(self._limit)))
        self.total.setStyleSheet(f"color: {self._theme.color('negative' if over else 'muted').name()}")
        self.bar.setValue(min(1000, round(1000 * total / self._limit)) if self._limit else 0)
        self._selection_changed()
        self.totalChanged.emit(total)

    def _selection_changed(self) -> None:
        self.remove.setEnabled(bool(self.table.selectedIndexes()))

    def add(self, paths: list[Path]) -> None:
        """Add files; one that is listed already is not listed twice."""
        written = [entry.written for entry in self.entries]
        new = [str(path) for path in paths if str(path) not in written]
        if new:
            self._write(written + new)

    def remove_selected(self) -> None:
        """Take the selected entries out; the files themselves are not touched."""
        rows = {index.row() for index in self.table.selectedIndexes()}
        self._write([entry.written for row, entry in enumerate(self.entries) if row not in rows])

    def _write(self, entries: list[str]) -> None:
        self._tell(list_source(entries) if entries else None)

    def _choose(self) -> None:
        dialog = FileDialog(self, self.tr("Files to send with the job"), str(self._base))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda chosen: self.add([Path(path) for path in chosen]))
        dialog.open()
