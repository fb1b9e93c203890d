"""Doing what a drop was planned to do."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from app.context import Desk, Notice, Tone
from app.drops.folder import FolderSheet
from app.drops.plan import Deed, Job, Plan
from app.drops.script import ScriptSheet
from app.drops.sheet import SubmissionSheet
from app.drops.wrap import pinned
from app.editor.document import read_description
from app.editor.editor import Editor
from broker_core.errors import CrossDeskError


def receive(desk: Desk, window: QWidget, plan: Plan, editor: Editor | None = None, site: str = "") -> None:
    """Carry out `plan`, at `site` if one is named; nothing is sent without a sheet that was confirmed."""
    match plan.deed:
        case Deed.REFUSE:
            desk.notify(Notice(plan.why, Tone.WARNING))
        case Deed.JOIN if editor is not None:
            editor.add_files(list(plan.files))
        case Deed.EDIT | Deed.JOIN:
            desk.open_editor(pinned(plan.text, site))
        case Deed.CHOOSE if plan.folder is not None:
            chooser = FolderSheet(desk, plan.folder, window)
            chooser.chosen.connect(lambda jobs: confirm(desk, window, tuple(jobs), site))
            chooser.open()
        case Deed.SCRIPT:
            ScriptSheet(desk, plan.text, window, site).open()
        case Deed.CONFIRM:
            confirm(desk, window, plan.jobs, site)


def confirm(desk: Desk, window: QWidget, jobs: tuple[Job, ...], site: str = "") -> None:
    """Show the sheet for these jobs; a single description opens in the editor as well, behind it, unless
    the site was chosen by dropping it there."""
    try:
        read = tuple(_read(job) for job in jobs)
    except CrossDeskError as problem:
        desk.notify(Notice(str(problem), Tone.BAD))
        return
    single = read[0] if len(read) == 1 else None
    opens = single is not None and not single.files and not site
    if opens and single is not None:
        desk.open_editor(single.text, single.path, ())
    sheet = SubmissionSheet(desk, read, window, in_editor=opens)
    sheet.choose_site(site)
    sheet.open()


def _read(job: Job) -> Job:
    if job.path is None:
        return job
    return replace(job, text=read_description(job.path), base=job.path.parent)
