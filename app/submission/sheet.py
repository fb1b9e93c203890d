"""The confirmation sheet: what will be sent where, before anything is; then the sending itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.context import AppContext, Notice, Tone
from app.description.first_view import first_view
from app.description.needs import with_needs
from app.description.program_call import CalledProgram, program_call, with_field
from app.description.values import string_source
from app.submission.draft import JobDraft
from app.submission.remarks import amount, remarks_on, where
from app.submission.script_lines import ScriptLines
from app.submission.sheet_layout import SheetForm
from app.units import counted, size
from broker_core.client.prepare import Prepared, prepare
from broker_core.client.programs.describe import how_it_runs, pinned
from broker_core.client.submit import new_key
from broker_core.errors import CrossDeskError
from broker_core.jdl.parametric import is_parametric, sequence, values_in_line
from broker_core.jdl.syntax.parse import parse
from broker_core.wire.submission import Receipt

PARAMETER = "_PARAM_"
"""What a description holds in the place of the value."""
_SETTLED_MS = 200
"""From the last letter of the arguments until the description is looked at again."""


def values_in(text: str) -> int | None:
    """How many values a parametric description gives itself; None if it is no such description."""
    ad = parse(text).ad if "parameters" in text.lower() else None
    if ad is None or not is_parametric(ad):
        return None
    return len(sequence(ad) or ())


class SheetStage(StrEnum):
    """How far the sheet is."""

    READING = "reading"
    """The files are found, checked and hashed."""
    READY = "ready"
    """Everything is in order; Submit can be pressed."""
    REFUSED = "refused"
    """An error stands in the way; the description has to be changed."""
    SENDING = "sending"
    """Files go to the broker."""
    DONE = "done"


class SubmissionSheet(QDialog):
    """Shows one or several jobs and submits them as one. Nothing is sent before Submit is pressed.

    The sheet does not block the window. The same key is used for every try, so that pressing Submit again
    after a failure starts nothing twice.
    """

    submitted = Signal(list)
    """Ids of the jobs, in the order of descriptions and values."""
    errorsAsked = Signal()
    """The sheet was left for what is wrong in the editor that opened it."""
    _hashed = Signal(object, object)

    def __init__(
        self, context: AppContext, jobs: Sequence[JobDraft], parent: QWidget, in_editor: bool = False
    ) -> None:
        super().__init__(parent)
        self._context, self.jobs = context, tuple(jobs)
        self._own_values = values_in(jobs[0].text) if len(jobs) == 1 else None
        self.prepared: tuple[Prepared, ...] = ()
        self.stage = SheetStage.READING
        self._key, self._key_for = new_key(), ""
        self._reading: asyncio.Future[Any] | None = None
        self._sending: asyncio.Future[Any] | None = None
        self._soon = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self.setWindowTitle(self.tr("Submit"))
        self.setObjectName("submission-sheet")
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.form = SheetForm(self, context.theme, sweep=self.sweeps)
        self.form.edit.setVisible(not in_editor and len(jobs) == 1)
        if len(jobs) == 1 and (translation := jobs[0].translation) is not None:
            self.form.show_lines(ScriptLines(context.theme, translation))
        self._in_editor, self._at_once = in_editor, False
        self._written = [job.text for job in self.jobs]
        if not in_editor:
            self.form.offer_presets(context.presets)
        self._connect()

    @property
    def sweeps(self) -> bool:
        """True if the description waits for values of a parameter that it does not give itself."""
        return len(self.jobs) == 1 and PARAMETER in self.jobs[0].text and self._own_values is None

    def _connect(self) -> None:
        self.form.submit.clicked.connect(self._press)
        self.form.arguments.textEdited.connect(self._say_arguments)
        self.form.preset.activated.connect(self._follow_preset)
        self._soon.timeout.connect(self._read_again)
        self.form.cancel.clicked.connect(self.reject)
        self.form.edit.clicked.connect(self._open_in_editor)
        self.form.values.textChanged.connect(self._show_stage)
        self._hashed.connect(self.form.show_progress)

    def open(self, at_once: bool = False) -> None:
        """Show the sheet beside the window and begin to look at the files.

        `at_once`: submit as soon as they are looked at, and show it only if something is to be asked or said.
        """
        self._at_once = at_once
        self._show_call()
        self._choose_usual_site()
        self._show_stage()
        if not at_once:
            self.show()
        self._read_again()

    def _read_again(self) -> None:
        self._stop_reading()
        self._reading = self._context.run(self._read(), self.tr("looking at the files to send"))

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def choose_site(self, site: str) -> None:
        """Choose the site (its name or a computing element) beforehand; empty: the scheduler chooses."""
        if site:
            self.form.show_sites([site])
            self.form.site.setCurrentIndex(self.form.site.findData(site))

    def _choose_usual_site(self) -> None:
        """Choose the site that the settings name, unless another was chosen or it is gone."""
        usual = self._context.preferences["default_site"]
        if not self.form.chosen_site() and usual in {site.spec.name for site in self._context.sites.views}:
            self.choose_site(usual)

    # --- looking

    async def _read(self) -> None:
        found = [await self._prepare(job) for job in self.jobs]
        self.prepared = tuple(found)
        self.form.contents.show_jobs(self.jobs, found)
        self.form.remarks.show_remarks(remarks_on(self.jobs, found))
        self.form.show_contents(len(found) > 1 or any(one.files for one in found))
        self._go(SheetStage.READY if all(one.ok for one in found) else SheetStage.REFUSED)
        if not self.form.arguments.isVisible():
            (self.form.values if self.sweeps else self.form.submit).setFocus()
        if self._at_once and self.stage is SheetStage.READY and self._nothing_to_say():
            self.submit()
            return
        self._at_once = False
        self._show_stage()
        self.show()
        if self.stage is SheetStage.READY:
            await self._show_match()

    def _nothing_to_say(self) -> bool:
        """True if nobody has to look before it is submitted: what was pressed on this sheet was seen."""
        return self._values_ok() and (self.isVisible() or not (self.sweeps or self.form.remarks.shown))

    async def _prepare(self, job: JobDraft) -> Prepared:
        base = job.base or (job.path.parent if job.path else Path.home())
        return await prepare(job.text, base, progress=lambda done, total: self._hashed.emit(done, total))

    async def _show_match(self) -> None:
        first = self.prepared[0]
        try:
            site = self.form.chosen_site()
            files = [file.wire() for file in first.files]
            report = await self._context.client.match(first.text, files, **({"site": site} if site else {}))
            sites = await self._context.client.sites()
        except CrossDeskError as problem:
            self.form.show_where(False, str(problem))
            return
        self.form.show_where(*where(report))
        self.form.show_sites([site.name for site in sites])

    # --- the arguments of a script

    def _call(self) -> CalledProgram | None:
        """The script that the sheet was opened for; None for descriptions and for several jobs."""
        if self._in_editor or len(self.jobs) != 1 or self.jobs[0].path is not None:
            return None
        call = program_call(self.jobs[0].text, self._base())
        return call if call is not None and call.item is not None else None

    def _base(self) -> Path:
        return self.jobs[0].base or Path("/")

    def _show_call(self) -> None:
        call = self._call()
        if call is not None and call.item is not None:
            self.form.show_program(call.name, how_it_runs(call.item), call.arguments)

    def _say_arguments(self, words: str) -> None:
        """Write them into the description, which is looked at again once the hand rests."""
        source = string_source(words) if words.strip() else None
        self._written = [with_field(self._written[0], "Arguments", source, self._base())]
        text = with_field(self.jobs[0].text, "Arguments", source, self._base())
        self.jobs = (replace(self.jobs[0], text=text),)
        self._own_values = values_in(text)
        self._read_later()

    def _read_later(self) -> None:
        # What is being read is not what is written now: it must not be submitted.
        self._stop_reading()
        self._at_once = False
        self.form.show_values(self.sweeps)
        self._go(SheetStage.READING)
        self._soon.start()

    # --- what the jobs need

    def _follow_preset(self) -> None:
        """Have all jobs ask for what the preset says, or again for what was written."""
        preset = self.form.preset.chosen
        texts = [with_needs(text, preset) if preset else text for text in self._written]
        self.jobs = tuple(replace(job, text=text) for job, text in zip(self.jobs, texts, strict=True))
        self._read_later()

    # --- sending

    def _press(self) -> None:
        """Submit, as soon as all is looked at; where errors stand in the way, lead to them."""
        if self.stage is SheetStage.READING:
            self._at_once = True
            self._show_stage()
        elif self.stage is not SheetStage.REFUSED:
            self.submit()
        elif self._in_editor:
            self.reject()
            self.errorsAsked.emit()
        else:
            self._open_in_editor()

    def submit(self) -> None:
        """Send the files and submit; the sheet closes when the jobs are safe with the broker."""
        if self.stage is SheetStage.READY and not self.form.submit.isHidden() and self._values_ok():
            self._go(SheetStage.SENDING)
            self._sending = self._context.run(self._send(), self.tr("submitting"))

    async def _send(self) -> None:
        try:
            receipt = await self._context.client.submit_prepared(
                self.prepared,
                key=self._key_now(),
                site=self.form.chosen_site(),
                values=self.values() if self.sweeps else None,
                progress=self.form.show_progress,
            )
        except CrossDeskError as problem:
            self.form.remarks.show_remarks([("error", str(problem))])
            self._go(SheetStage.READY)
            self.show()
            return
        self._done(receipt)

    def _key_now(self) -> str:
        texts = (job.text for job in self.jobs)
        chosen = "\0".join((self.form.chosen_site(), self.form.values.text(), *texts))
        if self._key_for not in ("", chosen):
            self._key = new_key()
        self._key_for = chosen
        return self._key

    def _done(self, receipt: Receipt) -> None:
        self._go(SheetStage.DONE)
        said = counted(len(receipt.ids), self.tr("job"), self.tr("jobs"))
        self._context.notify(Notice(self.tr("{0} submitted.").format(said), Tone.GOOD, job=receipt.ids[0]))
        self.submitted.emit(receipt.ids)
        select = getattr(self._context, "show_jobs", None)
        if select is not None and len(receipt.ids) > 1:
            select(receipt.ids)
        else:
            self._context.show_job(receipt.ids[0], first_view(self.prepared[0].description))
        self.accept()

    # --- the values of a sweep

    def values(self) -> list[str]:
        """Values of the parameter as written; raises ValueError if there are too many."""
        return values_in_line(self.form.values.text())

    def _values_ok(self) -> bool:
        try:
            return not self.sweeps or bool(self.values())
        except ValueError:
            return False

    def _count(self) -> int:
        try:
            return len(self.values()) if self.sweeps else self._own_values or len(self.jobs)
        except ValueError:
            return 0

    # --- what it shows

    def _go(self, stage: SheetStage) -> None:
        self.stage = stage
        self._show_stage()

    def _show_stage(self) -> None:
        count = self._count()
        errors = sum(one.severity == "error" for ready in self.prepared for one in ready.diagnostics)
        refused = self.stage is SheetStage.REFUSED and errors > 0
        title = self.tr("This cannot be submitted yet") if refused else headline(max(count, 1))
        self.form.headline.setText(title)
        submit = (
            self.tr("Submit {0}").format(counted(count, "job", "jobs")) if count > 1 else self.tr("Submit")
        )
        self.form.submit.setText(counted(errors, self.tr("error"), self.tr("errors")) if refused else submit)
        waiting = self.stage is SheetStage.READING and not self._at_once
        ready = (self.stage is SheetStage.READY or waiting) and self._values_ok()
        self.form.submit.setEnabled(ready or (refused and len(self.jobs) == 1))
        for field in (self.form.arguments, self.form.preset):
            field.setEnabled(self.stage is not SheetStage.SENDING)
        self.form.show_busy(self.stage in (SheetStage.READING, SheetStage.SENDING))
        self.form.amount.setText(self._summary())

    def _summary(self) -> str:
        match self.stage:
            case SheetStage.READING:
                return self.tr("Looking at the files…")
            case SheetStage.SENDING:
                total = sum({f.sha256: f.size for one in self.prepared for f in one.files}.values())
                return self.tr("Sending {0}…").format(size(total))
            case SheetStage.REFUSED:
                return self.tr("Change the description first.")
        tags = (self.tr("tag {0}").format(tag) for tag in self._context.saved.tags_of_new())
        return " · ".join((amount(self.prepared, self._count()), *tags))

    def _open_in_editor(self) -> None:
        job = self.jobs[0]
        text = pinned(job.text, self.form.chosen_site())
        self._context.open_editor(text, job.path, (), job.translation)
        self.reject()

    def done(self, result: int) -> None:
        """Close; what is under way is given up."""
        self._stop_reading()  # it may still ask where the job can run, though that is submitted
        if self._sending is not None and self.stage is not SheetStage.DONE:
            self._sending.cancel()
        super().done(result)


def headline(jobs: int) -> str:
    """What the sheet asks."""
    return f"Submit {counted(jobs, 'job', 'jobs')}?"
