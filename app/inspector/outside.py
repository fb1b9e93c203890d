"""What is known of a job that was submitted outside CrossDesk: facts, story, the end of its output."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QTabWidget, QVBoxLayout, QWidget

from app import units
from app.context import Notice
from app.jobs.outside.list import style_of_outside
from app.widgets.confirm import confirm
from app.widgets.labels import breakable, give_way, label
from app.widgets.state_glyph import StateGlyph
from broker_core.client.printable import printable, printable_text
from broker_core.errors import CrossDeskError
from broker_core.wire.outside import OutsideDetail, OutsideJob, OutsideOutput

if TYPE_CHECKING:
    from app.context import AppContext

_OUTPUTS = (("Output", False), ("Errors", True))
_STEP = "\n\n"


class OutsidePane(QWidget):
    """One such job. Its texts are of others, and shown as plain text alone."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.key = ""
        self._seen: OutsideJob | None = None
        self.glyph, self.title = StateGlyph(context.theme), label(role="title", wrap=True)
        self.standing, self.why = label(wrap=True), label(role="muted", wrap=True)
        self.cancel, self.again = QPushButton("Cancel"), QPushButton("Read again")
        self.tabs = QTabWidget()
        self.texts = {name: _plain(f"{name} of the job") for name in ("Facts", "Story", "Output", "Errors")}
        self._lay_out()
        self.cancel.clicked.connect(self._ask_cancel)
        self.again.clicked.connect(self._read)
        self.tabs.currentChanged.connect(lambda _: self._read())
        context.outside.rows.changed.connect(lambda _: self._follow())
        context.theme.changed.connect(self._dress)
        self._dress()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.glyph, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.title, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.again)
        buttons.addStretch(1)
        top = QVBoxLayout()
        top.setContentsMargins(12, 12, 12, 8)
        top.setSpacing(6)
        top.addLayout(head)
        for part in (self.title, self.standing, self.why):
            give_way(part)
        top.addWidget(self.standing)
        top.addWidget(self.why)
        top.addLayout(buttons)
        for name, text in self.texts.items():
            self.tabs.addTab(text, name)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self.tabs, 1)

    def _dress(self) -> None:
        mono = self._context.theme.font("mono")
        for name in ("Output", "Errors", "Facts"):
            self.texts[name].setFont(mono)

    def show_job(self, key: str) -> None:
        """Show one by its key; empty: none."""
        if key != self.key:
            self.key, self._seen = key, None
            for text in self.texts.values():
                text.clear()
            self._follow()

    def _follow(self) -> None:
        job = self._context.outside.jobs.get(self.key)
        if job is None or job == self._seen:
            return
        ended = job.ended is not None and (self._seen is None or self._seen.ended is None)
        first, self._seen = self._seen is None, job
        style = style_of_outside(job.model_dump())
        self.glyph.show_style(style)
        self.title.setText(breakable(printable(job.name) or job.id))
        self.standing.setText(f"{style.word} {f'({style.more})' if style.more else ''}".strip())
        self.why.setText(breakable(_about(job)))
        self.cancel.setVisible(job.ended is None)
        lines = (f"{units.exact(line.time)}\n{printable(line.words)}" for line in job.story)
        self.texts["Story"].setPlainText(_STEP.join(lines))
        if first or ended:
            self._read()

    def _read(self) -> None:
        """Ask for what the tab in front shows."""
        job, name = self._context.outside.jobs.get(self.key), self.tabs.tabText(self.tabs.currentIndex())
        if job is not None and name != "Story":
            self._context.run(self._load(job, name), f"asking for {name.lower()} of {printable(job.key)}")

    async def _load(self, job: OutsideJob, name: str) -> None:
        client = self._context.client
        try:
            if name == "Facts":
                text = _facts(await client.outside_job(job.site, job.id))
            else:
                error = dict(_OUTPUTS)[name]
                text = _output(await client.outside_output(job.site, job.id, error=error))
        except CrossDeskError as refused:
            text = str(refused)
        if job.key == self.key:
            self.texts[name].setPlainText(text)

    def _ask_cancel(self) -> None:
        job = self._context.outside.jobs.get(self.key)
        if job is not None:
            confirm(
                self.window(), f"Cancel “{printable(job.name) or job.id}”?",
                f"It was not submitted by this CrossDesk: {job.site} is told to end its job {job.id}. "
                "Nothing here can start it again.",
                "Cancel the job", partial(self._cancel, job), keep="Leave it",
            )  # fmt: skip

    def _cancel(self, job: OutsideJob, *_: object) -> None:
        self._context.run(self._send(job), f"canceling {job.key}")

    async def _send(self, job: OutsideJob) -> None:
        await self._context.client.cancel_outside(job.site, job.id)
        self._context.notify(Notice(f"{job.site} was told to cancel {job.id}."))
        self._context.outside.reload()


def _plain(name: str) -> QPlainTextEdit:
    made = QPlainTextEdit()
    made.setReadOnly(True)
    made.setProperty("frame", "none")
    made.setAccessibleName(name)
    return made


def _about(job: OutsideJob) -> str:
    cpus = units.count(job.cpus, "CPU")
    where = f"Outside CrossDesk: job {job.id} at {job.site}"
    parts = " · ".join(filter(None, (where, printable(job.queue), cpus, printable(job.node))))
    return "\n".join(filter(None, (parts, printable(job.reason))))


def _facts(detail: OutsideDetail) -> str:
    facts = [f"{printable(name)}\n    {printable_text(value)}" for name, value in detail.facts]
    return detail.trouble or "\n".join(facts)


def _output(found: OutsideOutput) -> str:
    if found.trouble:
        return f"{printable(found.path)}\n{printable(found.trouble)}".strip()
    shown = len(found.text.encode())
    cut = f"The last {units.size(shown)} of {units.size(found.size)}" if found.size > shown else ""
    head = " · ".join(filter(None, (printable(found.path), cut)))
    return f"{head}{_STEP}{printable_text(found.text)}"
