"""The main window as a place to drop on: says beforehand what will happen, then does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app import units
from app.context import AppContext, Notice, Tone
from app.drops.handler import DropHandler
from app.drops.overlay import Overlay
from app.drops.plan import DropAction, DropPlan, plan_for, plan_for_text, sentence
from app.editor.editor import Editor
from app.jobs.again import submission_again
from app.jobs.dragging import unpack
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.jdl.limits import DESCRIPTION_MAX

if TYPE_CHECKING:
    from app.context import AppContext


MOST_FILES = 1000
PRIVATE = "application/x-crossdesk-"
"""Beginning of the MIME types of the desktop's own drags, which are not dropped on the window."""
ICONS = {
    DropAction.CONFIRM: "rocket",
    DropAction.EDIT: "file-plus",
    DropAction.JOIN: "package",
    DropAction.PROGRAM: "scroll-text",
    DropAction.CHOOSE: "folder-open",
    DropAction.SCRIPT: "scroll-text",
    DropAction.REFUSE: "ban",
}
"""Icon of each action on the overlay."""
Places = list[tuple[str, QRect]]
"""Name of a site and the rectangle of its line or card, in the window's coordinates."""


@dataclass(frozen=True, slots=True)
class DragPayload:
    """Paths, or else a text."""

    paths: tuple[Path, ...] = ()
    text: str = ""
    elsewhere: tuple[str, ...] = ()
    """Addresses that are not files of this machine."""

    def plan(self, on_editor: bool = False, wants_program: bool = False) -> DropPlan:
        """What dropping this does; looks at the files."""
        if len(self.paths) > MOST_FILES:
            why = f"More than {MOST_FILES:,} files at once; drop their folder instead."
            return DropPlan(DropAction.REFUSE, why=why)
        if self.paths:
            return plan_for([classify(facts_of(path)) for path in self.paths], on_editor, wants_program)
        if self.elsewhere:
            return DropPlan(
                DropAction.REFUSE, why="Only files of this machine can be dropped; download it first."
            )
        if len(self.text) > DESCRIPTION_MAX:
            return DropPlan(DropAction.REFUSE, why="The text is too long; save it as a file and drop that.")
        return plan_for_text(self.text)


def read(mime: QMimeData) -> DragPayload | None:
    """What the drag carries; None if it is nothing for the desktop, or a drag of its own."""
    if any(name.startswith(PRIVATE) for name in mime.formats()):
        return None
    if mime.hasUrls():
        urls = mime.urls()
        paths = tuple(Path(url.toLocalFile()) for url in urls if url.isLocalFile())
        elsewhere = tuple(url.toDisplayString() for url in urls if not url.isLocalFile())
        return DragPayload(paths, elsewhere=elsewhere)
    return DragPayload(text=mime.text()) if mime.hasText() else None


def site_at(places: Places, at: QPoint) -> tuple[str, QRect]:
    """Return the site at a point and its rectangle; an empty name for none."""
    return next(((name, box) for name, box in places if box.contains(at)), ("", QRect()))


class DropTarget(QObject):
    """Watches the drag events of one window."""

    def __init__(self, context: AppContext, window: QWidget, sites: Callable[[], Places]) -> None:
        super().__init__(window)
        self._context, self._window, self._find_sites = context, window, sites
        self.overlay = Overlay(window, context.theme)
        self._handler = DropHandler(context, window)
        self._carried: DragPayload | None = None
        self._jobs: list[str] = []
        self._plans: dict[bool, DropPlan] = {}
        self._sites: Places = []
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the four drag events; leave all others alone."""
        match event.type():
            case QEvent.Type.DragEnter if isinstance(event, QDragEnterEvent):
                return self._enter(event)
            case QEvent.Type.DragMove if isinstance(event, QDragMoveEvent):
                return self._move(event)
            case QEvent.Type.DragLeave:
                self._leave()
            case QEvent.Type.Drop if isinstance(event, QDropEvent):
                return self._drop(event)
        return False

    def _enter(self, event: QDragEnterEvent) -> bool:
        self._look_at(event.mimeData())
        if self._carried is None and not self._jobs:
            return False
        taken = self._move(event)
        event.setAccepted(event.isAccepted() or bool(self._jobs))  # else it would not tell where they go
        return taken

    def _place(self) -> str:
        sites = self._context.sites.views
        if len(sites) != 1:
            return ""
        return "on this machine" if sites[0].spec.kind == "local" else f"on {sites[0].name}"

    def _look_at(self, mime: QMimeData) -> None:
        self._carried, self._plans = read(mime), {}
        self._jobs = unpack(mime)
        self._sites = self._find_sites()

    def _plan_at(self, place: QPoint) -> tuple[DropPlan, Editor | None]:
        assert self._carried is not None
        editor = self._editor_at(place)
        over = editor is not None
        if over not in self._plans:
            self._plans[over] = self._carried.plan(over, editor is not None and editor.wants_program)
        return self._plans[over], editor

    def _editor_at(self, place: QPoint) -> Editor | None:
        widget = self._window.childAt(place)
        while widget is not None and not isinstance(widget, Editor):
            widget = widget.parentWidget()
        return widget

    def _move(self, event: QDragMoveEvent) -> bool:
        at = event.position().toPoint()
        site, spot = site_at(self._sites, at)
        if self._jobs:
            refused, said, icon = not site, jobs_sentence(self._context, self._jobs, site), "rocket"
        elif self._carried is not None:
            plan, _editor = self._plan_at(at)
            refused, icon = plan.action is DropAction.REFUSE, ICONS[plan.action]
            said = sentence(plan, self._place(), site)
        else:
            return False
        self.overlay.open_at([box for _, box in self._sites], spot)
        self.overlay.say(*said, icon, refused and not self._jobs)
        event.setDropAction(Qt.DropAction.IgnoreAction if refused else Qt.DropAction.CopyAction)
        event.setAccepted(not refused)
        return True

    def _leave(self) -> None:
        self._carried, self._jobs = None, []
        self.overlay.hide()

    def _drop(self, event: QDropEvent) -> bool:
        if self._carried is None and not self._jobs:
            self._look_at(event.mimeData())
        at = event.position().toPoint()
        site, _spot = site_at(self._sites, at)
        jobs = self._jobs
        plan, editor = self._plan_at(at) if self._carried is not None else (None, None)
        self._leave()
        if plan is None and not (jobs and site):
            return False
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if plan is not None:
            self._receive(plan, editor, site)
        else:
            self._context.run(send_jobs(self._context, jobs, site), f"submitting to {site}")
        return True

    def _receive(self, plan: DropPlan, editor: Editor | None, site: str) -> None:
        self._window.activateWindow()
        self._handler.receive(plan, editor, site)


def install(context: AppContext, window: QWidget, sites: Callable[[], Places] = list) -> DropTarget:
    """Make `window` a place to drop on; `sites` tells where sites stand in it now."""
    return DropTarget(context, window, sites)


def jobs_sentence(context: AppContext, ids: Sequence[str], site: str) -> tuple[str, str]:
    """Say what letting go of these jobs does: a headline, and a line below it."""
    said, one = _named(context, ids), len(ids) == 1
    if not site:
        return f"Drop {said} on a site", f"It submits {'it' if one else 'them'} there once more"
    cpus = sum((context.jobs.row(job) or {}).get("cpus") or 1 for job in ids)
    kept = "this one stays as it is" if one else "these stay as they are"
    return (
        f"Drop to run {said} on {site} with {units.count(cpus, 'CPU')}",
        f"Submitted once more with the same files; {kept}",
    )


async def send_jobs(context: AppContext, ids: Sequence[str], site: str) -> None:
    """Submit the descriptions and files of jobs once more, to this site only."""
    rows = [row for row in map(context.jobs.row, ids) if row]
    submission = await submission_again(context.client, rows)
    receipt = await context.client.submit(submission.model_copy(update={"site": site}))
    said = f"{units.count(len(receipt.ids), 'job')} submitted to {site}."
    context.notify(Notice(said, Tone.GOOD, job=receipt.ids[0]))


def _named(context: AppContext, ids: Sequence[str]) -> str:
    row: dict[str, Any] | None = context.jobs.row(ids[0]) if len(ids) == 1 else None
    return f"“{row['name']}”" if row else units.count(len(ids), "job")
