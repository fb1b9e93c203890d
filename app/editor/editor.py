"""The editor of one description: its text, its form, its problems, and the way to a job (CB-UI-04)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.context import AppContext, Notice, Tone
from app.description.document import changed_span, with_files, with_program, write_description
from app.editor.bar import EditorBar
from app.editor.checking import Checking
from app.editor.completion.completer import Completer
from app.editor.form.form import DescriptionForm
from app.editor.problems import Problems
from app.editor.recovery import DraftKeeper, drafts_directory
from app.editor.source import SourceEditor
from app.match.view import MatchView
from app.widgets.save_dialog import ask_where
from app.widgets.turning_splitter import TurningSplitter
from broker_core.errors import CrossDeskError
from broker_core.jdl.limits import DEFAULT
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.wire.checks import DiagnosticView, FixView

if TYPE_CHECKING:
    from app.match.view import MatchTarget

_FORM_UPTO = 200_000
"""Characters; a longer description is edited as text only."""
_FORM_WIDTH = 420
_WIDE = 640
"""Pixels from which on the form stands beside the text."""


class Sides(StrEnum):
    """Which sides of the editor are shown."""

    TEXT = "text"
    BOTH = "both"
    FORM = "form"


class Editor(QWidget):
    """One description. The text is the truth; the form shows it and changes it attribute by attribute."""

    titleChanged = Signal(str)
    """Name for the tab, with a mark while there are unsaved changes."""
    submitted = Signal(list)
    """Ids of the jobs that were made of it."""
    changed = Signal(str)
    """The text, after each change."""

    def __init__(
        self, context: AppContext, text: str = "", path: Path | None = None, files: tuple[Path, ...] = ()
    ) -> None:
        super().__init__()
        self.context, self.path = context, path
        self._told_by_form, self._sides = "", Sides.BOTH
        self.source = SourceEditor(context.theme)
        self.form = DescriptionForm(context.theme, DEFAULT.input_sandbox_max)
        self.problems = Problems(context.theme)
        self.completer = Completer(self.source)
        self.whereabouts = WhereSide(context)
        self.bar = EditorBar(context.theme)
        self.checking = Checking(context.link, self)
        self.drafts = DraftKeeper(self, drafts_directory(context))
        self.setObjectName("editor")
        self.setAccessibleName(self.tr("Description editor"))
        self._lay_out()
        self._connect()
        self._open(text, files)

    def _lay_out(self) -> None:
        self.splitter = TurningSplitter(_WIDE, (_FORM_WIDTH * 3 // 2, _FORM_WIDTH), (1, 1))
        self.side = QStackedWidget()
        for part in (self.form, self.whereabouts):
            self.side.addWidget(part)
        self.splitter.addWidget(self.source)
        self.splitter.addWidget(self.side)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.side.setMinimumSize(380, 120)
        self.source.setMinimumSize(240, 80)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(_line())
        column.addWidget(self.splitter, 1)
        column.addWidget(_line())
        column.addWidget(self.problems)
        self.setFocusProxy(self.source)

    def _connect(self) -> None:
        self.source.textChanged.connect(self._text_changed)
        self.source.document().modificationChanged.connect(self._tell_title)
        self.form.edited.connect(self._form_edited)
        self.form.programChosen.connect(self.use_program)
        self.checking.checked.connect(self._show_problems)
        self.problems.chosen.connect(self.source.go_to)
        self.problems.fixAsked.connect(self.apply_fix)
        self.bar.sidesChosen.connect(self.show_sides)
        self.bar.templateChosen.connect(self.use_template)
        self.bar.submitAsked.connect(self.submit)
        self.bar.checkAsked.connect(self.check)
        for asked in (self.bar.whereAsked, self.whereabouts.againAsked):
            asked.connect(self.where)
        self.whereabouts.closed.connect(lambda: self.show_sides(self._sides))
        self.whereabouts.view.clauseMarked.connect(self.source.mark)
        self.whereabouts.view.submitAsked.connect(self.submit_to)
        self._keys = {
            "Ctrl+Return": self.submit,
            "Ctrl+Enter": self.submit,
            "Ctrl+.": self.problems.fix_first,
            "Ctrl+S": self.save,
            "Ctrl+Shift+S": self.save_as,
        }

    def _open(self, text: str, files: tuple[Path, ...]) -> None:
        saved = self.path is not None and self._is_on_disk(text)
        self.source.setPlainText(text)
        self.source.document().setModified(bool(text) and not saved)
        self.show_sides(Sides.BOTH)
        if files:
            self.add_files(list(files))
        self.checking.ask(self.text(), self.base, at_once=True)
        self.source.setFocus()

    def _is_on_disk(self, text: str) -> bool:
        try:
            return self.path is not None and self.path.read_text("utf-8-sig", "replace") == text
        except OSError:
            return False

    # --- what others ask

    @property
    def dirty(self) -> bool:
        """True while there is text that is not saved."""
        return self.source.document().isModified()

    @property
    def base(self) -> Path:
        """The folder that relative names in the description start from."""
        return self.path.parent if self.path else Path.home()

    @property
    def title(self) -> str:
        """Name for the tab."""
        name = self.path.name if self.path else self.tr("New description")
        return f"{name} •" if self.dirty else name

    def text(self) -> str:
        """The description as it stands in the editor."""
        return self.source.text()

    def event(self, event: QEvent) -> bool:
        """Claim the editor's keys before the window's shortcuts see them."""
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and _written(event) in self._keys:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what the editor's own keys mean."""
        done = self._keys.get(_written(event))
        if done is None:
            super().keyPressEvent(event)
        else:
            done()

    # --- changing the text

    def set_text(self, text: str, join: bool = False) -> None:
        """Replace what differs as one step that can be undone; the cursor and the undo history stay."""
        span = changed_span(self.text(), text)
        if span is not None:
            start, end, new = span
            self.source.replace(start, end, new, join)

    def use_template(self, text: str) -> None:
        """Begin anew from a template; undo brings the old text back."""
        self.set_text(text)
        self.source.setFocus()

    def add_files(self, paths: list[Path]) -> None:
        """Add files to the input sandbox; those listed already are not listed twice."""
        self.set_text(with_files(self.text(), paths, self.base))

    def use_program(self, path: str) -> None:
        """Run the program at `path`: it becomes the executable and is sent along."""
        self.set_text(with_program(self.text(), Path(path), self.base))

    def apply_fix(self, fix: FixView) -> None:
        """Do a quick fix in the text."""
        self.source.replace(fix.start, fix.end, fix.text)
        self.source.setFocus()

    def _form_edited(self, attribute: str, source: str | None) -> None:
        join = attribute == self._told_by_form
        self.set_text(set_attribute(self.text(), attribute, source), join)
        self._told_by_form = attribute

    def _text_changed(self) -> None:
        self._told_by_form = ""
        text = self.text()
        self._fill_form()
        self.checking.ask(text, self.base)
        if self.matching:
            self.whereabouts.view.ask(text, soon=True, base=self.base)
        self.changed.emit(text)
        if self.dirty:
            self.drafts.changed(text, self.path)

    def _show_problems(self, found: list[DiagnosticView]) -> None:
        self.source.show_problems(found)
        self.problems.show_problems(found)
        self._tell_fault()

    def _tell_fault(self) -> None:
        if self.drafts.fault:
            said = self.tr("Unsaved text cannot be kept for recovery: {0}. Save it now.")
            self.context.notify(Notice(said.format(self.drafts.fault), Tone.WARNING))
            self.drafts.fault = ""

    def show_sides(self, sides: str) -> None:
        """Show the text, the form, or both; a very long description has no form."""
        form_fits = len(self.text()) <= _FORM_UPTO
        shown = self._sides = Sides(sides) if form_fits else Sides.TEXT
        self.source.setVisible(shown is not Sides.FORM)
        self.side.setCurrentWidget(self.form)
        self.side.setVisible(shown is not Sides.TEXT)
        self.bar.show_sides(shown)
        self._fill_form()

    def _fill_form(self) -> None:
        text = self.text()
        if self.form.isVisibleTo(self) and len(text) <= _FORM_UPTO:
            self.form.show_text(text, self.base)

    # --- checking, matching, submitting

    def check(self) -> None:
        """Check at once, and go to the first problem."""
        self.checking.ask(self.text(), self.base, at_once=True)
        self.checking.checked.connect(self._go_to_first, Qt.ConnectionType.SingleShotConnection)

    def _go_to_first(self, found: list[DiagnosticView]) -> None:
        errors = [problem for problem in found if problem.severity == "error"]
        if errors:
            self.source.go_to(errors[0])
        else:
            self.context.notify(Notice(self.tr("The description is in order."), Tone.GOOD))

    @property
    def matching(self) -> bool:
        """True while it is shown where the description could run."""
        return self.side.currentWidget() is self.whereabouts and self.side.isVisibleTo(self)

    def where(self) -> None:
        """Show where the description could run, and why not elsewhere; it follows the text from now on."""
        self.side.setCurrentWidget(self.whereabouts)
        self.side.setVisible(True)
        self.whereabouts.view.ask(self.text(), base=self.base)

    def submit(self) -> None:
        """Show what will be sent where; the sheet submits."""
        self._open_sheet(self.text(), "")

    def submit_to(self, place: MatchTarget) -> None:
        """Show what will be sent to the place that was chosen; the sheet submits."""
        from app.match.sending import confined

        self._open_sheet(confined(self.text(), place.ces), place.site)

    def _open_sheet(self, text: str, site: str) -> None:
        from app.submission.draft import JobDraft
        from app.submission.sheet import SubmissionSheet

        job = JobDraft(self.path.name if self.path else self.tr("New description"), text, base=self.base)
        sheet = SubmissionSheet(self.context, (job,), self, in_editor=True)
        sheet.submitted.connect(self._submitted)
        sheet.choose_site(site)
        sheet.open()

    def _submitted(self, ids: list[str]) -> None:
        self.submitted.emit(ids)

    # --- the file

    def save(self, done: Callable[[], object] | None = None) -> None:
        """Write the file; asks for a name if there is none yet. `done` is called once it is written."""
        if self.path is None:
            self.save_as(done)
        else:
            self._save_to(self.path, done)

    def save_as(self, done: Callable[[], object] | None = None) -> None:
        """Ask for a name and write the file under it."""
        ask_where(
            self, self.tr("Save description"), lambda path: self._save_to(path, done),
            folder=str(self.base), suffix="jdl", filters=[self.tr("Job descriptions (*.jdl)")],
        )  # fmt: skip

    def _save_to(self, path: Path, done: Callable[[], object] | None) -> None:
        try:
            write_description(path, self.text())
        except CrossDeskError as problem:
            self.context.notify(Notice(str(problem), Tone.BAD))
            return
        self.path = path
        self.drafts.drop()
        self.source.document().setModified(False)
        self._tell_title()
        self.checking.ask(self.text(), self.base)
        if done is not None:
            done()

    def _tell_title(self) -> None:
        if not self.dirty:
            self.drafts.drop()
        self.titleChanged.emit(self.title)

    def give_up(self) -> None:
        """The tab is closed on purpose: nothing of it is to be recovered."""
        self.drafts.drop()


def _line() -> QFrame:
    line = QFrame()
    line.setProperty("role", "line")
    return line


def _written(event: QKeyEvent) -> str:
    return QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.PortableText)


class WhereSide(QWidget):
    """The broker's match report for the text of an editor."""

    againAsked = Signal()
    """Ask once more, with the text as it is now."""
    closed = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.view = MatchView(context)
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Where could it run?"))
        heading = QHBoxLayout()
        heading.setContentsMargins(16, 8, 8, 0)
        title = QLabel(self.tr("Where could it run?"))
        title.setProperty("role", "strong")
        heading.addWidget(title, 1)
        heading.addWidget(self._button(context, "refresh-cw", self.tr("Ask again"), self.againAsked))
        heading.addWidget(self._button(context, "x", self.tr("Back to the form"), self.closed))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(heading)
        column.addWidget(self.view, 1)

    def _button(self, context: AppContext, icon: str, tip: str, signal: SignalInstance) -> QToolButton:
        button = QToolButton()
        button.setIcon(context.theme.icon(icon))
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.clicked.connect(signal)
        return button
