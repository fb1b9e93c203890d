"""The main window as a place to drop on: says beforehand what will happen, then does it."""

from __future__ import annotations

import logging

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.context import Desk, LinkState, Notice, Tone
from app.drops.carried import Carried, read
from app.drops.overlay import Overlay
from app.drops.plan import Deed, Plan, sentence
from app.drops.reception import receive
from app.editor.editor import Editor
from broker_core.errors import CrossDeskError

log = logging.getLogger(__name__)

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
        self._plans: dict[bool, Plan] = {}
        self._place = ""
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
        if self._carried is None:
            return False
        if self._desk.link.state is LinkState.CONNECTED:
            self._desk.run(self._learn_place(), "asking for the sites")
        return self._move(event)

    async def _learn_place(self) -> None:
        try:
            sites = await self._desk.client.sites()
        except CrossDeskError as problem:
            log.info("The sites are not known while something is dragged: %s", problem)
            return
        only = sites[0] if len(sites) == 1 else None
        here = only is not None and only.spec.kind == "local"
        self._place = "on this machine" if here else f"on {only.name}" if only else ""

    def _look_at(self, mime: QMimeData) -> None:
        self._carried, self._plans = read(mime), {}

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
        if self._carried is None:
            return False
        plan, _editor = self._plan_at(event.position().toPoint())
        refused = plan.deed is Deed.REFUSE
        self.overlay.say(*sentence(plan, self._place), ICONS[plan.deed], refused)
        event.setDropAction(Qt.DropAction.IgnoreAction if refused else Qt.DropAction.CopyAction)
        event.setAccepted(not refused)
        return True

    def _leave(self) -> None:
        self._carried = None
        self.overlay.hide()

    def _drop(self, event: QDropEvent) -> bool:
        if self._carried is None:
            self._look_at(event.mimeData())
        if self._carried is None:
            return False
        plan, editor = self._plan_at(event.position().toPoint())
        self._leave()
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self._receive(plan, editor)
        return True

    def _receive(self, plan: Plan, editor: Editor | None) -> None:
        for warning in plan.warnings:
            self._desk.notify(Notice(warning, Tone.WARNING))
        self._window.activateWindow()
        receive(self._desk, self._window, plan, editor)


def install(desk: Desk, window: QWidget) -> DropTarget:
    """Make `window` a place to drop on."""
    return DropTarget(desk, window)
