"""The widgets of the confirmation sheet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.description.sandbox_files import printable
from app.jobs.preset_choice import PresetChoice
from app.stores.named_texts import NamedTexts
from app.submission.draft import JobDraft
from app.submission.remarks import RemarkList
from app.theme.theme import Theme
from app.units import counted, size
from broker_core.client.prepare import Prepared

_JOBS_SHOWN = 500
_FILES_SHOWN = 500
_STEPS = 1000


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
        item = QTreeWidgetItem([printable(job.name), said, size(ready.size)])
        item.setIcon(0, icon)
        item.setToolTip(1, said)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.addTopLevelItem(item)
        return item

    def _files(self, parent: QTreeWidgetItem, ready: Prepared) -> None:
        for file in ready.files[:_FILES_SHOWN]:
            item = QTreeWidgetItem([printable(file.name), printable(str(file.path.parent)), size(file.size)])
            item.setIcon(0, self._theme.icon("terminal" if file.executable else "file"))
            item.setToolTip(1, printable(str(file.path)))
            item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setForeground(1, self._theme.color("muted"))
            parent.addChild(item)

    def _say_rest(self, jobs: int) -> None:
        if jobs > _JOBS_SHOWN:
            rest = counted(jobs - _JOBS_SHOWN, self.tr("more job"), self.tr("more jobs"))
            self.addTopLevelItem(QTreeWidgetItem([self.tr("and {0}").format(rest), "", ""]))


def button_row(cancel: QPushButton, go_on: QPushButton, aside: QPushButton | None = None) -> QHBoxLayout:
    """The buttons of a sheet: an aside at the left, then Cancel, and at the right what goes on."""
    row = QHBoxLayout()
    if aside is not None:
        row.addWidget(aside)
        aside.setAutoDefault(False)
    cancel.setAutoDefault(False)
    go_on.setDefault(True)
    row.addStretch(1)
    row.addWidget(cancel)
    row.addWidget(go_on)
    return row


class SheetForm:
    """Lays out one sheet; holds its widgets."""

    def __init__(self, sheet: QDialog, theme: Theme, sweep: bool) -> None:
        self._theme, self._sheet = theme, sheet
        self.headline, self.amount = QLabel(), QLabel()
        self.headline.setProperty("role", "title")
        self.amount.setProperty("role", "muted")
        self.where = QLabel()
        self.where.setWordWrap(True)
        self.where.setTextFormat(Qt.TextFormat.PlainText)
        self.where.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.where_icon = QLabel()
        self.contents, self.remarks = Contents(theme), RemarkList(theme)
        self.remarks.hide()
        self.values, self.arguments = QLineEdit(), QLineEdit()
        self.program = QLabel()
        self.site, self.preset = QComboBox(), PresetChoice(sheet.tr("As the job asks for"))
        self.progress = QProgressBar()
        self._buttons()
        self._lay_out(sweep)

    def _buttons(self) -> None:
        tr = self._sheet.tr
        self.submit = QPushButton(tr("Submit"))
        self.submit.setProperty("kind", "primary")
        self.edit = QPushButton(self._theme.icon("pencil"), tr("Open in editor"))
        self.cancel = QPushButton(tr("Cancel"))

    def _lay_out(self, sweep: bool) -> None:
        self._sheet.resize(620, 440)
        column = self._column = QVBoxLayout(self._sheet)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        heading = QVBoxLayout()
        heading.setSpacing(4)
        heading.addWidget(self.headline)
        heading.addWidget(self.amount)
        column.addLayout(heading)
        column.addLayout(self._choices(sweep))
        column.addWidget(self.contents, 1)
        column.addLayout(self._where_row())
        column.addWidget(self.remarks)
        column.addWidget(self._progress_bar())
        column.addLayout(self._button_row())
        self._order_keys()

    def _order_keys(self) -> None:
        """Tab goes through the fields as they are read, not as they were made."""
        fields = (self.arguments, self.site, self.preset, self.values)
        order = (*fields, self.contents, self.edit, self.cancel, self.submit)
        for one, after in pairwise(order):
            QWidget.setTabOrder(one, after)

    def _choices(self, sweep: bool) -> QFormLayout:
        tr = self._sheet.tr
        rows = QFormLayout()
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setHorizontalSpacing(12)
        self.site.addItem(tr("Wherever it fits best"), "")
        self.site.setAccessibleName(tr("Where"))
        rows.addRow(tr("Where"), self.site)
        rows.addRow(tr("Needs"), self.preset)
        rows.setRowVisible(self.preset, False)
        self.values.setPlaceholderText("1-10, 20-100:5, red, green")
        self.values.setAccessibleName(tr("Values of the parameter"))
        self.arguments.setAccessibleName(tr("Arguments"))
        self.arguments.setPlaceholderText(tr("none; _PARAM_ stands for each of several values"))
        self.program.setTextFormat(Qt.TextFormat.PlainText)
        self.program.setWordWrap(True)
        rows.insertRow(0, tr("Arguments"), self.arguments)
        program = QLabel(tr("Program"))
        program.setAlignment(Qt.AlignmentFlag.AlignTop)
        program.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        rows.insertRow(0, program, self.program)
        rows.addRow(tr("Values"), self.values)
        for part in (self.program, self.arguments):
            rows.setRowVisible(part, False)
        rows.setRowVisible(self.values, sweep)
        self._rows = rows
        return rows

    def show_program(self, name: str, how: str, arguments: str) -> None:
        """Show which script is run and how, with a field for its arguments, which has the keyboard."""
        self.program.setText(f"{printable(name)}\n{how}")
        self.arguments.setText(arguments)
        for part in (self.program, self.arguments):
            self._rows.setRowVisible(part, True)
        self.arguments.setFocus()

    def offer_presets(self, presets: NamedTexts) -> None:
        """Offer presets of what the jobs need, if there are any."""
        self._rows.setRowVisible(self.preset, self.preset.offer(presets))

    def show_lines(self, lines: QWidget) -> None:
        """Show what became of the lines of a batch script, above the files that are sent."""
        self._sheet.resize(680, 640)
        self._column.insertWidget(2, lines, 2)

    def show_values(self, shown: bool) -> None:
        """Show or hide the field for the values of a parameter."""
        self._rows.setRowVisible(self.values, shown)

    def _where_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.where_icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.where, 1)
        for part in (self.where_icon, self.where):
            part.hide()
        return row

    def _progress_bar(self) -> QProgressBar:
        self.progress.setTextVisible(False)
        self.progress.setFixedHeight(4)
        self.progress.setAccessibleName(self._sheet.tr("Progress"))
        keep = self.progress.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.progress.setSizePolicy(keep)
        return self.progress

    def _button_row(self) -> QHBoxLayout:
        return button_row(self.cancel, self.submit, self.edit)

    def show_busy(self, busy: bool) -> None:
        """Show the bar while something is under way; it moves without an end until there are numbers."""
        self.progress.setRange(0, 0)
        self.progress.setVisible(busy)

    def show_progress(self, done: int, total: int) -> None:
        """Bytes done and bytes in all."""
        self.progress.setRange(0, _STEPS)
        self.progress.setValue(round(_STEPS * done / total) if total else _STEPS)

    def show_contents(self, any_there: bool) -> None:
        """Show the list of files, or give its room back where nothing is sent."""
        self.contents.setVisible(any_there)
        if not any_there:
            self._sheet.resize(self._sheet.width(), self._sheet.sizeHint().height())

    def show_where(self, fits: bool, sentence: str) -> None:
        """Say where it goes, or why it will wait."""
        icon = self._theme.icon("server", "positive") if fits else self._theme.icon("hourglass", "warning")
        self.where_icon.setPixmap(icon.pixmap(16, 16))
        self.where.setText(sentence)
        for part in (self.where_icon, self.where):
            part.show()

    def show_sites(self, names: Sequence[str]) -> None:
        """Offer these sites by name beside the scheduler's choice."""
        known = {self.site.itemData(row) for row in range(self.site.count())}
        for name in names:
            if name not in known:
                self.site.addItem(name, name)

    def chosen_site(self) -> str:
        """Name of the site to send it to; empty lets the scheduler choose."""
        return str(self.site.currentData() or "")
