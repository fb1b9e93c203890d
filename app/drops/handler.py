"""Doing what a drop was planned to do."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from app.context import AppContext, Notice, Tone
from app.description.document import read_description
from app.drops.folder import FolderSheet
from app.drops.plan import DropAction, DropPlan
from app.drops.script import ScriptSheet
from app.editor.editor import Editor
from app.submission.draft import JobDraft
from app.submission.sheet import SubmissionSheet
from broker_core.client.programs.describe import pinned
from broker_core.errors import CrossDeskError


class DropHandler:
    """Carries out the plans of drops on one window."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        self._context, self._window = context, window

    def receive(self, plan: DropPlan, editor: Editor | None = None, site: str = "") -> None:
        """Carry out `plan`, at `site` if one is named; nothing is sent without a sheet that was confirmed."""
        for warning in plan.warnings:
            self._context.notify(Notice(warning, Tone.WARNING))
        match plan.action:
            case DropAction.REFUSE if plan.why not in plan.warnings:
                self._context.notify(Notice(plan.why, Tone.WARNING))
            case DropAction.PROGRAM if editor is not None:
                editor.use_program(str(plan.files[0]))
                editor.add_files(list(plan.files[1:]))
            case DropAction.JOIN if editor is not None:
                editor.add_files(list(plan.files))
            case DropAction.EDIT | DropAction.JOIN:
                self._context.open_editor(pinned(plan.text, site))
            case DropAction.CHOOSE if plan.folder is not None:
                chooser = FolderSheet(self._context, plan.folder, self._window)
                chooser.chosen.connect(lambda jobs: self.confirm(tuple(jobs), site))
                chooser.open()
            case DropAction.SCRIPT:
                ScriptSheet(self._context, plan.text, self._window, site).open()
            case DropAction.CONFIRM:
                self.confirm(plan.jobs, site)

    def confirm(self, jobs: tuple[JobDraft, ...], site: str = "") -> None:
        """Show the sheet for these jobs; a single description opens in the editor as well, behind it, unless
        the site was chosen by dropping it there."""
        try:
            read = tuple(_read(job) for job in jobs)
        except CrossDeskError as problem:
            self._context.notify(Notice(str(problem), Tone.BAD))
            return
        single = read[0] if len(read) == 1 else None
        opens = single is not None and not single.files and not site
        if opens and single is not None:
            self._context.open_editor(single.text, single.path, ())
        sheet = SubmissionSheet(self._context, read, self._window, in_editor=opens)
        sheet.errorsAsked.connect(lambda: self._context.trigger("file.submit"))  # which leads to the first
        sheet.choose_site(site)
        sheet.open()


def _read(job: JobDraft) -> JobDraft:
    if job.path is None:
        return job
    return replace(job, text=read_description(job.path), base=job.path.parent)
