"""The editor of one description: its text, its form, its problems, and the way to a job (CB-UI-04)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.context import AppContext, Notice, Tone
from app.description.document import changed_span, is_written, with_files, write_description
from app.description.program_call import with_field, with_program
from app.description.sandbox_files import printable
from app.description.statements import statements
from app.description.values import string_of
from app.editor.bar import EditorBar, line_across
from app.editor.checking import Checking
from app.editor.completion.completer import Completer
from app.editor.problems import Problems
from app.editor.recovery import DraftKeeper, drafts_directory
from app.editor.sides import LONGEST, EditorSide, Sides, sides_at_first
from app.editor.source import SourceEditor
from app.submission.draft import JobDraft, open_file
from app.widgets.save_dialog import ask_where
from app.widgets.turning_splitter import TurningSplitter
from broker_core.client.programs.describe import translation
from broker_core.client.programs.file_kind import ItemKind, classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.errors import CrossDeskError
from broker_core.wire.checks import DiagnosticView, FixView

if TYPE_CHECKING:
    from app.match.view import MatchTarget
    from broker_core.client.programs.batch_scripts.translation import Translation

_FORM_WIDTH = 420
_WIDE = 640
"""Pixels from which on the form stands beside the text."""


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
        self.side = EditorSide(context)
        self.form, self.whereabouts = self.side.form, self.side.whereabouts
        self.problems = Problems(context)
        self.completer = Completer(self.source, context)
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
        column.addWidget(line_across())
        column.addWidget(self.splitter, 1)
        column.addWidget(line_across())
        column.addWidget(self.problems)
        self.setFocusProxy(self.source)

    def _connect(self) -> None:
        self.source.textChanged.connect(self._text_changed)
        self.source.document().modificationChanged.connect(self._tell_title)
        self.form.edited.connect(self._form_edited)
        self.form.programChosen.connect(self.use_program)
        self.checking.checked.connect(self._show_problems)
        self.checking.checked.connect(self.side.graph.show_problems)
        self.side.graph.nodeChosen.connect(self.go_to)
        self.side.textAsked.connect(lambda: self.show_sides(Sides.BOTH))
        self.context.sites.changed.connect(self._offer_sites)
        self.context.templates.changed.connect(self._offer_templates)
        self._offer_templates()
        self.problems.chosen.connect(self.go_to)
        self.problems.fixAsked.connect(self.apply_fix)
        self.bar.sidesChosen.connect(self.show_sides)
        self.bar.templateChosen.connect(self.use_template)
        self.bar.saveAsked.connect(lambda: self.context.trigger("file.template"))
        self.bar.submitAsked.connect(self.submit)
        self.bar.checkAsked.connect(self.check)
        for asked in (self.bar.whereAsked, self.whereabouts.againAsked):
            asked.connect(self.where)
        for left in (self.whereabouts.closed, self.side.scriptLeft):
            left.connect(lambda: self.show_sides(self._sides))
        self.bar.linesAsked.connect(self.show_script)
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
        self.source.setPlainText(text)
        self.source.document().setModified(bool(text) and not is_written(self.path, text))
        self._offer_sites()
        self.show_sides(sides_at_first(text, self.path))
        if files:
            self.add_files(list(files))
        self.checking.ask(self.text(), self.base, at_once=True)
        if self._sides is Sides.FORM:
            self.setFocusProxy(self.form.program)
        self.setFocus()

    def _offer_templates(self) -> None:
        self.bar.offer(self.context.templates.all)

    def _offer_sites(self) -> None:
        self.form.offer(self.context.sites.views)

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
        return f"{self.name} •" if self.dirty else self.name

    @property
    def blank(self) -> bool:
        """True while nothing is written in a description without a file."""
        return self.path is None and not self.text().strip()

    @property
    def name(self) -> str:
        """That of the file, else of the job or of its program."""
        if self.path is not None:
            return self.path.name
        found = statements(self.text()) if len(self.text()) <= LONGEST else {}
        named = (string_of(found[key].value) for key in ("jobname", "executable") if key in found)
        name = next(filter(None, named), "").rsplit("/", 1)[-1]
        return printable(name) or self.tr("New job")

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
        """Run the program at `path`, which is sent along; a description is opened instead. What a batch
        script asks for becomes the description, here while nothing is written, else in a tab of its own."""
        program = Path(path)
        item = classify(facts_of(program))
        if item.kind is ItemKind.BATCH_SCRIPT and self.blank:
            found = translation(item)
            self.set_text(found.description)
            self.show_script(found)
        elif item.kind in (ItemKind.DESCRIPTION, ItemKind.BATCH_SCRIPT):
            open_file(self.context, program)
        else:
            self.set_text(with_program(self.text(), program, self.base))

    def show_script(self, script: Translation | None = None) -> None:
        """Show beside the text what became of the lines of the batch script that it comes from."""
        self.bar.lines.setVisible(True)
        self.show_sides(Sides.BOTH)
        self.side.show_script(script)

    @property
    def wants_program(self) -> bool:
        """True while it is not said what to run."""
        return "executable" not in statements(self.text())

    def apply_fix(self, fix: FixView) -> None:
        """Do a quick fix in the text."""
        self.source.replace(fix.start, fix.end, fix.text)
        self.source.setFocus()

    def _form_edited(self, attribute: str, source: str | None) -> None:
        join = attribute == self._told_by_form
        self.set_text(with_field(self.text(), attribute, source, self.base), join)
        self._told_by_form = attribute

    def _text_changed(self) -> None:
        self._told_by_form = ""
        text = self.text()
        self._fill_form()
        self.checking.ask(text, self.base)
        if self.matching:
            self.whereabouts.view.ask(text, soon=True, base=self.base)
        self.changed.emit(text)
        self.titleChanged.emit(self.title)
        if self.dirty:
            self.drafts.changed(text, self.path)

    def _show_problems(self, found: list[DiagnosticView]) -> None:
        begun = bool(self.text().strip())
        self.source.show_problems(found if begun else [])
        if begun:
            self.problems.show_problems(found)
        else:
            self.problems.invite(self.tr("Choose what to run"))
        self.bar.show_errors(len(self._errors()))
        self._tell_fault()

    def _tell_fault(self) -> None:
        if self.drafts.fault:
            said = self.tr("Unsaved text cannot be kept for recovery: {0}. Save it now.")
            self.context.notify(Notice(said.format(self.drafts.fault), Tone.WARNING))
            self.drafts.fault = ""

    def _errors(self) -> list[DiagnosticView]:
        return [problem for problem in self.problems.problems if problem.severity == "error"]

    def go_to(self, problem: DiagnosticView) -> None:
        """Give the keyboard to what is wrong: in the text, or in its field while only the form is shown."""
        if self._sides is Sides.FORM and not self.form.go_to(problem.attribute):
            self.show_sides(Sides.BOTH)
        if self._sides is not Sides.FORM:
            self.source.go_to(problem)

    def show_sides(self, sides: str) -> None:
        """Show the text, the form, or both; a very long description has no form."""
        form_fits = len(self.text()) <= LONGEST
        shown = self._sides = Sides(sides) if form_fits else Sides.TEXT
        self.source.setVisible(shown is not Sides.FORM)
        self.side.show_form()
        self.side.setVisible(shown is not Sides.TEXT)
        self.bar.show_sides(shown)
        self._fill_form()

    def _fill_form(self) -> None:
        text = self.text()
        if self._sides is not Sides.TEXT and not self.side.lent and len(text) <= LONGEST:
            self.side.show_text(text, self.base, self._sides is Sides.FORM)

    # --- checking, matching, submitting

    def check(self) -> None:
        """Check at once, and go to the first problem."""
        self.checking.ask(self.text(), self.base, at_once=True)
        self.checking.checked.connect(self._go_to_first, Qt.ConnectionType.SingleShotConnection)

    def _go_to_first(self, found: list[DiagnosticView]) -> None:
        if self._errors():
            self.go_to(self._errors()[0])
        elif self.wants_program and not self.text().strip():
            self.form.go_to("Executable")
        else:
            self.context.notify(Notice(self.tr("No problems found."), Tone.GOOD))

    @property
    def matching(self) -> bool:
        """True while it is shown where the description could run."""
        return self.side.matching and self.side.isVisibleTo(self)

    def where(self) -> None:
        """Show where the description could run, and why not elsewhere; it follows the text from now on."""
        self.side.setCurrentWidget(self.whereabouts)
        self.side.setVisible(True)
        self.whereabouts.view.ask(self.text(), base=self.base)

    def submit(self) -> None:
        """Show what will be sent where; the sheet submits. While the form is in front, which shows that
        already, it is submitted at once unless there is something to ask or to warn of. Errors are led to."""
        if not self.bar.submit.isEnabled():
            return
        if not self.text().strip():
            self.form.go_to("Executable")
        elif self._errors() and not self.checking.pending:
            self.go_to(self._errors()[0])
        else:
            self._open_sheet(self.text(), "")

    def submit_to(self, place: MatchTarget) -> None:
        """Show what will be sent to the place that was chosen; the sheet submits."""
        from app.match.sending import confined

        self._open_sheet(confined(self.text(), place.ces), place.site)

    def _open_sheet(self, text: str, site: str) -> None:
        from app.submission.sheet import SubmissionSheet

        job = JobDraft(self.name, text, base=self.base)
        sheet = SubmissionSheet(self.context, (job,), self, in_editor=True)
        sheet.submitted.connect(self.submitted)
        sheet.errorsAsked.connect(self.check)
        self.bar.submit.setEnabled(False)
        sheet.finished.connect(lambda: self.bar.submit.setEnabled(True))
        sheet.choose_site(site)
        sheet.open(at_once=self._sides is not Sides.TEXT and not site)

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


def _written(event: QKeyEvent) -> str:
    return QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.PortableText)
