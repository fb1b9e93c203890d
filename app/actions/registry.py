"""The actions of the table as Qt actions of one window, carried out by its handlers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from app.actions.handlers import WindowHandlers
from app.actions.table import ACTIONS, BY_ID, Action
from app.stores.alike import Alike
from app.theme.theme import Theme

OF_VIEWS = frozenset({"job", "jobs"})
"""Groups whose keys work only in the views that listen."""


class Actions(QObject):
    """One QAction for each row of the table; greyed until `serve`, and while it does not apply."""

    triggered = Signal(str)
    """Id of an action that was done, for the palette's recent ones."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._handlers: WindowHandlers | None = None
        self._made: dict[str, QAction] = {}
        self._alike: Sequence[Alike] = ()
        self._linked = False
        for action in ACTIONS:
            self._made[action.id] = self._make(action, theme, window)
        self.refresh()

    def _make(self, action: Action, theme: Theme, window: QWidget) -> QAction:
        made = QAction(action.text, window)
        made.setIconText(" " + action.text.rstrip("…"))
        if action.icon:
            made.setIcon(theme.icon(action.icon, "muted"))
        if action.local:
            made.setText(f"{action.text}\t{action.shortcut}")
        elif action.shortcut:
            made.setShortcuts([QKeySequence(keys) for keys in (action.shortcut, action.also) if keys])
        if action.shortcut:
            made.setToolTip(f"{action.text.rstrip('…')} ({action.shortcut})")
        made.triggered.connect(lambda _=False, name=action.id: self.trigger(name))
        if action.group in OF_VIEWS:
            made.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        else:
            window.addAction(made)
        return made

    def listen(self, view: QWidget) -> None:
        """Let the keys of jobs and table actions work in a view; elsewhere they may mean other things."""
        for action in ACTIONS:
            if action.group in OF_VIEWS:
                view.addAction(self._made[action.id])

    def serve(self, handlers: WindowHandlers) -> None:
        """Say who carries the actions out."""
        self._handlers = handlers
        self.refresh()

    def trigger(self, action: str) -> None:
        """Do an action if it applies now."""
        if self._handlers is not None and self._made[action].isEnabled():
            BY_ID[action].do(self._handlers)
            self.triggered.emit(action)

    def qt(self, action: str) -> QAction:
        """The QAction of an id, for buttons and menus."""
        return self._made[action]

    def name(self, action: str) -> str:
        """What an action would do to the selected jobs, e.g. `Rerun 8 failed`."""
        return self._made[action].text().partition("\t")[0].rstrip("…")

    def usable(self) -> list[Action]:
        """Actions that apply now, in the order of the table."""
        return [action for action in ACTIONS if self._made[action.id].isEnabled()]

    def why_not(self, name: str) -> str:
        """What has to be done first before an action applies; empty if it does."""
        action = BY_ID[name]
        if self._made[name].isEnabled():
            return ""
        if action.needs_link and not self._linked:
            return "not connected to the broker"
        if action.without_link and self._linked:
            return "connected already"
        if action.needs_editor:
            return "open a description first"
        selected = sum(each.number for each in self._alike)
        if action.each is not None and not selected:
            return "select a job first"
        if action.selected is not None and not action.selected[0] <= selected <= action.selected[1]:
            return f"select {_number_of_jobs(*action.selected)}"
        return "not for this job" if selected == 1 else "not for these jobs"

    def select(self, alike: Sequence[Alike]) -> None:
        """Say which jobs are selected, and which of them are alike."""
        self._alike = alike
        self.refresh()

    def fits(self, action: str) -> int:
        """To how many of the selected jobs an action applies; 1 for one that asks about no job."""
        return applies_to(BY_ID[action], self._alike)

    def link(self, up: bool) -> None:
        """Say whether the broker is connected."""
        self._linked = up
        self.refresh()

    def refresh(self) -> None:
        """Grey what does not apply."""
        for action in ACTIONS:
            self._refresh_one(action)

    def _refresh_one(self, action: Action) -> None:
        number = applies_to(action, self._alike)
        made, name = self._made[action.id], action.named(number, sum(each.number for each in self._alike))
        if action.many:
            made.setText(name if number else action.text)
        linked = not action.needs_link if not self._linked else not action.without_link
        served = self._handlers is not None and (not action.needs_editor or self._handlers.editing())
        made.setEnabled(served and number > 0 and linked)

    def fill(self, menu: QMenu, group: str, *, fitting: bool = False) -> None:
        """Put the actions of a group into a menu, with rules between their sections.

        `fitting`: only those that apply to what is selected.
        """
        before = None
        for action in (one for one in ACTIONS if one.group == group):
            if fitting and not self.fits(action.id):
                continue
            if before is not None and action.menu != before:
                menu.addSeparator()
            before = action.menu
            menu.addAction(self._made[action.id])


def _number_of_jobs(least: int, most: int) -> str:
    return "one job only" if most == 1 else f"{least} to {most} jobs"


def applies_to(action: Action, alike: Sequence[Alike]) -> int:
    """To how many of these jobs an action applies; 1 for one that asks about no job."""
    if action.each is None:
        return 1
    if action.selected is not None:
        least, most = action.selected
        if not least <= sum(each.number for each in alike) <= most:
            return 0
    return sum(each.number for each in alike if action.each(each.row))
