"""The main window as a place to drop on: says beforehand what will happen, then does it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.context import Desk, Notice, Tone
from app.drops.carried import Carried, read
from app.drops.jobs import jobs_sentence, send_jobs
from app.drops.overlay import Overlay
from app.drops.plan import Deed, Plan, sentence
from app.drops.reception import receive
from app.drops.site_places import Places, site_at, site_places
from app.editor.editor import Editor
from app.jobs.dragging import unpack

ICONS = {
    Deed.CONFIRM: "rocket",
    Deed.EDIT: "file-plus",
    Deed.JOIN: "package",
    Deed.CHOOSE: "folder-open",
    Deed.SCRIPT: "scroll-text",
    Deed.REFUSE: "ban",
}
"""Icon of each deed on the overlay."""


class DropTarget(QObject):
    """Watches the drag events of one window."""

    def __init__(self, desk: Desk, window: QWidget) -> None:
        super().__init__(window)
        self._desk, self._window = desk, window
        self.overlay = Overlay(window, desk.theme)
        self._carried: Carried | None = None
        self._jobs: list[str] = []
        self._plans: dict[bool, Plan] = {}
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
        sites = self._desk.sites.views
        if len(sites) != 1:
            return ""
        return "on this machine" if sites[0].spec.kind == "local" else f"on {sites[0].name}"

    def _look_at(self, mime: QMimeData) -> None:
        self._carried, self._plans = read(mime), {}
        self._jobs = unpack(mime)
        self._sites = site_places(self._window)

    def _plan_at(self, place: QPoint) -> tuple[Plan, Editor | None]:
        assert self._carried is not None
        editor = self._editor_at(place)
        over = editor is not None
        if over not in self._plans:
            self._plans[over] = self._carried.plan(over)
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
            refused, said, icon = not site, jobs_sentence(self._desk, self._jobs, site), "rocket"
        elif self._carried is not None:
            plan, _editor = self._plan_at(at)
            refused, icon = plan.deed is Deed.REFUSE, ICONS[plan.deed]
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
            self._desk.run(send_jobs(self._desk, jobs, site), f"submitting to {site}")
        return True

    def _receive(self, plan: Plan, editor: Editor | None, site: str) -> None:
        for warning in plan.warnings:
            self._desk.notify(Notice(warning, Tone.WARNING))
        self._window.activateWindow()
        receive(self._desk, self._window, plan, editor, site)


def install(desk: Desk, window: QWidget) -> DropTarget:
    """Make `window` a place to drop on."""
    return DropTarget(desk, window)
