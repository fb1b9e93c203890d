"""Tags and notes of jobs: the sheet that changes the tags of the selected ones, and the field of a note."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QCompleter,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.context import Notice, Tone
from app.widgets.labels import label
from broker_core.errors import BadRequest
from broker_core.jdl.user_tags import tag_of
from broker_core.jobs.annotations import ANNOTATION_COLUMNS, tags_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.context import AppContext
    from app.stores.jobs import JobStore

_OFFERED = 60
"""Tags that are listed at most."""
_SETTLED_MS = 800
"""From the last letter of a note until it is saved."""
_LINES = (2, 8)
"""Lines of a note that are seen at least and at most without scrolling."""


def annotate(
    context: AppContext, ids: Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()
) -> None:
    """Give tags to jobs and take others from them; the table shows it once the broker has it."""
    context.run(_annotate(context, ids, add, remove, None), f"changing {units.count(len(ids), 'job')}")


async def _annotate(
    context: AppContext, ids: Sequence[str], add: Sequence[str], remove: Sequence[str], note: str | None
) -> None:
    outcomes = await context.client.annotate(ids, add=add, remove=remove, note=note)
    if refused := [why for why in outcomes.results.values() if why]:
        context.notify(
            Notice(f"{units.count(len(refused), 'job')} could not be changed: {refused[0]}", Tone.WARNING)
        )


def tags_of_jobs(rows: JobStore, ids: Sequence[str]) -> dict[str, int]:
    """The tags of these jobs, and of how many of them each is."""
    found: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    texts = Counter(rows.columns["tags"][rows.at[job]] for job in ids if job in rows.at)
    for text, number in texts.items():
        for tag in tags_in(text):
            found[spelled.setdefault(tag.casefold(), tag)] += number
    return dict(sorted(found.items(), key=lambda one: one[0].casefold()))


class TagSheet(QDialog):
    """Lists the tags of the jobs, then others in use; what is ticked is given, what is cleared taken."""

    def __init__(self, context: AppContext, ids: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._ids = context, list(ids)
        self.before = tags_of_jobs(context.jobs, ids)
        self.boxes: dict[str, QCheckBox] = {}
        self._list = QVBoxLayout()
        self.new, self.problem = QLineEdit(), label(role="negative", wrap=True)
        self.add, self.go, self.cancel = QPushButton("Add"), QPushButton("Save"), QPushButton("Cancel")
        self.setWindowTitle("Tags")
        self._lay_out()
        others = [tag for tag, _ in sorted(context.jobs.tags_in_use(), key=lambda one: -one[1])]
        for tag in (*self.before, *others[:_OFFERED]):
            self._offer(tag)
        self._complete(others)
        self.add.clicked.connect(self._take_new)
        self.new.returnPressed.connect(self._take_new)
        self.new.textEdited.connect(self._typed)
        self.go.clicked.connect(self._save)
        self.cancel.clicked.connect(self.reject)
        self._typed("")

    def _lay_out(self) -> None:
        number = units.count(len(self._ids), "job")
        self.setMinimumWidth(400)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(label(f"Tags of {number}", "title"))
        line, foot = QHBoxLayout(), QHBoxLayout()
        self.new.setPlaceholderText("A word such as calib or run-7")
        self.new.setAccessibleName("New tag")
        line.addWidget(self.new, 1)
        line.addWidget(self.add)
        column.addLayout(line)
        self.problem.hide()
        column.addWidget(self.problem)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(4)
        self._list.addStretch(1)
        page, self.area = QWidget(), QScrollArea(widgetResizable=True)
        page.setLayout(self._list)
        self.area.setWidget(page)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setMinimumHeight(120)
        column.addWidget(self.area, 1)
        if len(self._ids) > 1:
            column.addWidget(label("A dash means that some of them have it.", "muted", wrap=True))
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.go)
        column.addLayout(foot)
        self.go.setProperty("kind", "primary")
        for button in (self.add, self.go, self.cancel):
            button.setAutoDefault(False)

    def _complete(self, tags: Sequence[str]) -> None:
        completer = QCompleter(list(tags), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.new.setCompleter(completer)

    def _offer(self, tag: str) -> QCheckBox:
        """The box of a tag, made if it is not there yet."""
        known = self.boxes.get(tag.casefold())
        if known is not None:
            return known
        number = self.before.get(tag, 0)
        some = 0 < number < len(self._ids)
        box = QCheckBox(f"{tag}  ({number:,} of {len(self._ids):,})" if some else tag)
        box.setAccessibleName(tag)
        box.setMinimumHeight(24)
        box.setProperty("tag", tag)
        if some:
            box.setTristate(True)
            box.setCheckState(Qt.CheckState.PartiallyChecked)
            # Who has pressed it wants all or none; only the list as it was says some.
            box.clicked.connect(lambda: box.setTristate(False))
        else:
            box.setChecked(bool(number))
        self.boxes[tag.casefold()] = box
        self._list.insertWidget(self._list.count() - 1, box)
        return box

    def _typed(self, text: str) -> None:
        self.add.setEnabled(bool(text.strip()))
        self.problem.hide()

    def _take_new(self) -> bool:
        """Tick the tags that are written in the line; False, with the reason, if one can be none."""
        try:
            tags = [tag_of(word) for word in self.new.text().replace(",", " ").split()]
        except BadRequest as refused:
            self.problem.setText(f"{refused.message} {refused.remedy}")
            self.problem.show()
            self.new.setFocus()
            return False
        for tag in tags:
            box = self._offer(tag)
            box.setTristate(False)
            box.setChecked(True)
            QTimer.singleShot(0, box, lambda box=box: self.area.ensureWidgetVisible(box))
        self.new.clear()
        self._typed("")
        return True

    def changes(self) -> tuple[list[str], list[str]]:
        """Tags to give and tags to take."""
        ticked: dict[Qt.CheckState, list[str]] = {state: [] for state in Qt.CheckState}
        for box in self.boxes.values():
            ticked[box.checkState()].append(box.property("tag"))
        add = [tag for tag in ticked[Qt.CheckState.Checked] if self.before.get(tag, 0) < len(self._ids)]
        return add, [tag for tag in ticked[Qt.CheckState.Unchecked] if tag in self.before]

    def _save(self) -> None:
        if not self._take_new():
            return
        add, remove = self.changes()
        self.accept()
        if add or remove:
            annotate(self._context, self._ids, add, remove)


class NoteField(QPlainTextEdit):
    """The note of one job; saved when the keyboard leaves it, when it rests, and with Ctrl+Return."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._job, self._saved = "", ""
        self.setAccessibleName("Note")
        self.setPlaceholderText("What it is for, what you found: only you see it")
        self.setTabChangesFocus(True)
        self._rest = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._rest.timeout.connect(self.save)
        self.textChanged.connect(self._edited)
        context.jobs.changed.connect(self._changed)

    def show_job(self, job: str) -> None:
        """Show the note of a job; what was written for the one before is saved first. Empty: of none."""
        if job != self._job:
            self.save()
            self._job = job
            self._show(self._of_row())

    def _of_row(self) -> str:
        return str((self._context.jobs.row(self._job) or {}).get(ANNOTATION_COLUMNS[1], ""))

    def _changed(self, ids: set[str]) -> None:
        """The broker told of the note: it is shown unless the user is writing another one."""
        text, now = self.toPlainText().strip(), self._of_row()
        if self._job in ids and text == self._saved.strip() and text != now:
            self._show(now)

    def _show(self, text: str) -> None:
        self._saved = text
        if text != self.toPlainText():
            self.setPlainText(text)
        self._rest.stop()

    def _edited(self) -> None:
        self.updateGeometry()
        if self.toPlainText() != self._saved:
            self._rest.start()

    def save(self) -> None:
        """Send what is written, if it is another text than before."""
        self._rest.stop()
        text = self.toPlainText().strip()
        if self._job and text != self._saved.strip():
            self._context.finish(self._send(self._job, text), "saving the note")

    async def _send(self, job: str, text: str) -> None:
        await _annotate(self._context, [job], (), (), text)
        if job == self._job:
            self._saved = text

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Save when the keyboard goes elsewhere."""
        super().focusOutEvent(event)
        self.save()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+Return saves; Escape brings back what was there."""
        if event.key() == Qt.Key.Key_Return and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.save()
        elif event.key() == Qt.Key.Key_Escape and self.toPlainText() != self._saved:
            self._show(self._saved)
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        """As high as its text, within bounds."""
        lines = max(_LINES[0], min(_LINES[1], self.document().lineCount()))
        frame = 2 * self.frameWidth() + 2 * round(self.document().documentMargin()) + 12
        return QSize(240, lines * QFontMetrics(self.font()).lineSpacing() + frame)

    def minimumSizeHint(self) -> QSize:
        """It is never squeezed below its text."""
        return QSize(120, self.sizeHint().height())
