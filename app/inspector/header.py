"""The head of the inspector: which job this is, how it stands, and what can be done with it."""

from __future__ import annotations

import time
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from app import units
from app.actions.registry import applies_to
from app.actions.table import BY_ID
from app.inspector import job_times
from app.jobs.annotating import TagSheet
from app.stores.alike import Alike
from app.widgets.flow_layout import FlowLayout
from app.widgets.labels import breakable, give_way, label
from app.widgets.save_dialog import output_folder, project_folder
from app.widgets.state_glyph import StateGlyph, style_of_row
from app.widgets.state_style import UNHEARD
from broker_core.client.printable import printable
from broker_core.errors import CrossDeskError
from broker_core.jobs.annotations import tags_in
from broker_core.jobs.batch_names import job_name
from broker_core.jobs.outcome import failure_line
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from app.context import AppContext
    from broker_core.wire.views import TransferView

ACTIONS: tuple[tuple[str, str], ...] = (
    ("job.cancel", "Cancel"),
    ("job.rerun", "Rerun"),
    ("job.rerun_changed", "Rerun with changes…"),
    ("job.elsewhere", "Run elsewhere"),
    ("job.fetch_again", "Fetch output"),
    ("job.fetch", "Fetch output"),
    ("job.open_batch", "Open batch"),
    ("job.batch", "Queue as batch job"),
    ("job.resubmit", "Resubmit"),
    ("job.purge", "Remove"),
)
"""Id in the desktop's table of actions and short verb."""


_INTERVAL_MS = 1000
_NOTE_SHOWN = 120
"""Characters of a note that the head shows at most."""
_AGAIN = "job.fetch_again"
_NAME_SHOWN = 20
"""Letters of a folder's name that a button shows."""


def _short(folder: Path) -> str:
    name = printable(folder.name or str(folder))
    return name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1].rstrip()}…"


def _plain(text: str) -> str:
    """The text for a button, which takes `&` for the mark of a key."""
    return text.replace("&", "&&")


class JobActions(QWidget):
    """Buttons for what applies to the selected jobs, done through the desktop's table of actions.

    They stand still while the pointer is over them and the same jobs are selected: what applies no more is
    disabled, and no other button comes to where one is about to be pressed.
    """

    def __init__(
        self,
        context: AppContext,
        parent: QWidget | None = None,
        act: Callable[[str], object] | None = None,
        without: Collection[str] = (),
    ) -> None:
        """`act` does an action by its id; without it the window does, with what is selected in the table.

        `without`: actions that are not offered here.
        """
        super().__init__(parent)
        self._context = context
        self._jobs: Sequence[Alike] = ()
        self._subject: object = None
        do = act or context.trigger
        row = FlowLayout(self, spacing=4, below=4)
        self.buttons: dict[str, QPushButton] = {}
        self._verbs = {action: verb for action, verb in ACTIONS if action not in without}
        for action, verb in self._verbs.items():
            button = QPushButton(verb)
            button.setStyleSheet("padding: 5px 8px;")
            button.clicked.connect(lambda _=False, action=action: do(action))
            self.buttons[action] = button
            row.addWidget(button)
        context.theme.changed.connect(self._restyle)
        context.link.changed.connect(self._linked)
        self._restyle()
        self._linked()

    def _linked(self) -> None:
        """All of them ask the broker for something."""
        self.setEnabled(self._context.link.up)

    def show_jobs(self, jobs: Sequence[Alike], subject: object = None) -> None:
        """Offer what applies to some of these jobs, and say to how many.

        `subject`: what is selected; the same as before means that the same jobs have changed.
        """
        still = subject is not None and subject == self._subject and self.underMouse()
        self._jobs, self._subject = jobs, subject
        selected = sum(each.number for each in jobs)
        for action, button in self.buttons.items():
            number = applies_to(BY_ID[action], jobs)
            verb = self._verb(action, number if selected > 1 else 0)
            button.setEnabled(number > 0)
            subject_words = (
                "this job" if selected == 1 else f"{number:,} of {job_times.count(selected, 'job')}"
            )
            button.setToolTip(f"{self._tooltip(action)}: {subject_words}")
            if still:
                continue
            button.setVisible(number > 0 and bool(verb))
            button.setText(_plain(verb))

    def leaveEvent(self, event: QEvent) -> None:
        """What was put off while the pointer was here is shown."""
        super().leaveEvent(event)
        self.show_jobs(self._jobs)

    def _verb(self, action: str, number: int) -> str:
        """What a button says for that many of several jobs (0: for the only one); empty: nothing to offer."""
        folder = output_folder(self._context.preferences, self._context.saved)
        if action == _AGAIN:
            several = f" {number:,}" if number else ""
            return f"Fetch{several} to {_short(folder)}" if folder is not None else ""
        if action == "job.fetch" and project_folder(self._context.saved) is not None:
            return ""  # it does what the button beside it says
        if action == "job.fetch" and folder is not None and not number:
            return "Fetch to…"
        row = BY_ID[action]
        return row.named(number, 2) if row.many and number else self._verbs[action]

    def _tooltip(self, action: str) -> str:
        """What the tooltip says: the whole name of the folder that output goes to."""
        folder = output_folder(self._context.preferences, self._context.saved) if action == _AGAIN else None
        return f"Fetch output to {printable(str(folder))}" if folder else self._verbs[action].rstrip("…")

    def _restyle(self) -> None:
        for action, button in self.buttons.items():
            button.setIcon(self._context.theme.icon(BY_ID[action].icon))


class FilesOnTheWay(QWidget):
    """How much has arrived of the files of a job between the broker and its site; hidden while none move."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context, self._job = context, ""
        self.words, self.bar = label(role="muted"), QProgressBar(textVisible=False)
        self.bar.setRange(0, 1000)
        self.bar.setMinimumWidth(40)
        self.bar.setMaximumWidth(200)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.words)
        row.addWidget(self.bar, 1)
        row.addStretch(1)
        self._asking = False
        self._second = QTimer(self, interval=_INTERVAL_MS)
        self._second.timeout.connect(self._ask)
        self.hide()

    def show_row(self, row: Mapping[str, Any]) -> None:
        """Ask after this job's files while it is where files can be on their way."""
        moves = JobState(row["state"]) in (JobState.READY, JobState.SCHEDULED, JobState.RUNNING)
        if not moves or row["id"] != self._job:
            self.hide()
        self._job = row["id"] if moves else ""
        self._second.start() if moves else self._second.stop()

    def tell(self, transfer: TransferView | None) -> None:
        """Show how far it is; None: nothing moves."""
        self.setVisible(transfer is not None)
        if transfer is not None:
            what = "Input sent" if transfer.to_site else "Output brought"
            done, total = units.binary_size(transfer.done), units.binary_size(transfer.total)
            self.words.setText(f"{what}: {done} of {total}")
            self.bar.setValue(round(1000 * transfer.done / max(transfer.total, 1)))
            self.bar.setAccessibleName(self.words.text())

    def _ask(self) -> None:
        shown = self.parentWidget()
        if (
            self._job
            and not self._asking
            and shown is not None
            and shown.isVisible()
            and self._context.link.up
        ):
            self._context.run(self._refresh(self._job), "looking for files on their way")

    async def _refresh(self, job: str) -> None:
        self._asking = True
        try:
            transfer = (await self._context.client.job(job)).transfer
        except CrossDeskError:
            transfer = None  # the rest of the window tells of that
        finally:
            self._asking = False
        if job == self._job:
            self.tell(transfer)


class JobHeader(QWidget):
    """Name, state with shape and word, why it failed, place and times, id to copy, actions."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._row = context, dict[str, Any]()
        self.name, self.state = label(role="title", fluid=True), label(role="strong")
        self.line = label(role="muted", fluid=True)
        self.why = label(role="negative", wrap=True)
        self.marks = label(role="muted", wrap=True)
        self.glyph = StateGlyph(context.theme)
        self.moving = FilesOnTheWay(context)
        self.copy, self.tag, self._elsewhere = QToolButton(), QToolButton(), QToolButton()
        self.open, self.detach = QAction("As a tab", self), QAction("In a new window", self)
        self.offers = JobActions(context)
        self._lay_out()
        context.theme.changed.connect(self._restyle)
        context.sites.changed.connect(self._show_again)
        self._restyle()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        first, second = QHBoxLayout(), QHBoxLayout()
        first.addWidget(self.name, 1)
        for button in (self.tag, self.copy, self._elsewhere):
            button.setAutoRaise(True)
            first.addWidget(button)
        second.setSpacing(8)
        second.addWidget(self.glyph)
        second.addWidget(self.state)
        second.addWidget(self.line, 1)
        column.addLayout(first)
        column.addLayout(second)
        for part in (self.marks, self.why):
            give_way(part)
        column.addWidget(self.moving)
        column.addWidget(self.marks)
        column.addWidget(self.why)
        column.addSpacing(4)
        column.addWidget(self.offers)
        self._offer_elsewhere()
        for button, said in ((self.tag, "Tags of the job"), (self.copy, "Copy the job's id")):
            button.setToolTip(said)
            button.setAccessibleName(said)
        self.copy.clicked.connect(self._copy_id)
        self.tag.clicked.connect(self._ask_tags)

    def _offer_elsewhere(self) -> None:
        """One button with a word opens the job as a tab, or this view of it in a window."""
        menu = QMenu(self._elsewhere)
        menu.addActions([self.open, self.detach])
        self._elsewhere.setText("Open")
        self._elsewhere.setToolTip("Open the job as a tab, or this view of it in a new window")
        self._elsewhere.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._elsewhere.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._elsewhere.setMenu(menu)

    def _show_again(self) -> None:
        if self._row:
            self.show_row(self._row)

    def show_row(self, row: dict[str, Any]) -> None:
        """Show this job's row."""
        since = self._context.sites.unheard(row.get("site"))
        self._row = row = row | {"unheard": since}
        self.name.setText(job_name(row.get("name") or row["id"], row.get("parameter") or ""))
        self.name.setToolTip(f"{row.get('name', '')}\n{row['id']}")
        self.copy.setToolTip(f"Copy the job's id: {row['id']}")
        self.glyph.show_row(row)
        self._show_marks(row.get("tags", ""), row.get("note", ""))
        why = why_failed(row)
        self.why.setText(breakable(why))
        self.why.setAccessibleName(f"Why it failed: {why}")
        self.why.setVisible(bool(why))
        self.moving.show_row(row)
        self.tell_time()
        repeated = row["id"] in self._context.jobs.repeated
        self.offers.show_jobs([Alike(row | {"repeated": repeated}, 1)], row["id"])

    def _show_marks(self, tags: str, note: str) -> None:
        """The tags, and how the note begins."""
        parts = (", ".join(tags_in(tags)), shorten(note.partition("\n")[0], _NOTE_SHOWN, placeholder="…"))
        self.marks.setText(breakable("  ·  ".join(part for part in parts if part)))
        self.marks.setAccessibleName(f"Tags and note: {self.marks.text()}")
        self.marks.setToolTip("\n".join(part for part in (parts[0], note) if part))
        self.marks.setVisible(bool(tags or note))

    def _ask_tags(self) -> None:
        if self._row:
            TagSheet(self._context, [self._row["id"]], self.window()).open()

    def tell_time(self) -> None:
        """Say again how long ago things were."""
        row = self._row
        if not row:
            return
        parts = [site_name(row["site"])] if row.get("site") else []
        parts.append(job_times.count(row.get("cpus") or 1, "CPU"))
        verb, moment = last_step(row)
        parts.append(f"{verb} {job_times.ago(moment, time.time())}")
        shown, now = style_of_row(row), time.time()
        silent = shown.word == UNHEARD.word
        since = f" since {job_times.since(row['unheard'], now)}" if silent else ""
        self.state.setText(f"{shown.word}{since}")
        self.line.setText("  ·  ".join(parts))
        self.line.setToolTip(f"{verb.capitalize()} {job_times.exact(moment)}")

    def _copy_id(self) -> None:
        if self._row:
            QGuiApplication.clipboard().setText(self._row["id"])

    def _restyle(self) -> None:
        theme = self._context.theme
        for one, icon in (
            (self.tag, "tag"),
            (self.copy, "copy"),
            (self._elsewhere, "external-link"),
            (self.open, "maximize-2"),
            (self.detach, "picture-in-picture-2"),
        ):
            one.setIcon(theme.icon(icon, "muted"))


def why_failed(row: dict[str, Any]) -> str:
    """Say in one line why a job failed; empty if it did not. Where nothing but an exit code is known, say
    what that code means."""
    known = (row["state"], row.get("exit_code"), row.get("signal"), row.get("reason") or "")
    line = failure_line(*known, row.get("error_line") or "")
    bare = line == f"Exit {row.get('exit_code')}"
    return job_times.end_words(row) if bare else line


def last_step(row: dict[str, Any]) -> tuple[str, float]:
    """Say the last thing that happened to a row, and when."""
    for column, verb in (("ended", "ended"), ("started", "started")):
        if row.get(column):
            return verb, row[column]
    return "submitted", row["submitted"]
