"""One part of a console that may be split: what all parts have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QWidget

from app.console.splits.row import Above, Side

if TYPE_CHECKING:
    from app.context import AppContext

SHELL, AGAIN = "shell", "again"
"""What a new part shows: a shell beside the program, or the same console; else another job's console."""
CONSOLE = "console"
BESIDE, BELOW, CLOSE = "Ctrl+Shift+E", "Ctrl+Shift+O", "Ctrl+Shift+W"
NEXT, BEFORE = "Ctrl+Shift+PgDown", "Ctrl+Shift+PgUp"
OUT = ("F6", "Shift+F6", "Ctrl+Shift+K")
"""Keys that lead out of a console: to the next pane, the one before, and to the palette."""
LEFT = tuple(QKeySequence(keys) for keys in (BESIDE, BELOW, CLOSE, NEXT, BEFORE, *OUT))
"""Keys that a terminal leaves to the part it stands in, and to the window."""
_MOST = 12
"""Other jobs that the menu names."""


class ConsolePart(QWidget):
    """A console or a shell. Whoever holds it splits it, closes it, and moves on to the next."""

    shows = CONSOLE
    """What it shows of its job: the console, or a shell."""
    split_asked = Signal(str, object)
    """What the new part shows (`shell`, `again`, or the id of a job), and the direction."""
    close_asked = Signal()
    step_asked = Signal(int)

    def __init__(self, context: AppContext, job: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context, self.job = context, job
        self.closable = False
        """It was added to a console, and can be taken away again."""
        self.alone = False
        """Its agent offers nothing beside the program: no shell, no forwards."""
        for keys, act in (
            (BESIDE, lambda: self._split(Side)),
            (BELOW, lambda: self._split(Above)),
            (CLOSE, self._close),
            (NEXT, lambda: self.step_asked.emit(1)),
            (BEFORE, lambda: self.step_asked.emit(-1)),
        ):
            shortcut = QShortcut(QKeySequence(keys), self, act)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    @property
    def kept_as(self) -> str:
        """By which it is made again when its console is opened the next time."""
        return f"{self.shows} {self.job}"

    def close_session(self) -> None:
        """Give up what the part holds; the program goes on."""
        raise AssertionError(f"{type(self).__name__} must say what it gives up")

    def fill(self, menu: QMenu) -> None:
        """Offer in a menu what a split may show."""
        menu.clear()
        beside, below = self.context.theme.icon("columns-2"), self.context.theme.icon("rows-2")
        for text, what in (("Shell of the job", SHELL), ("This console again", AGAIN)):
            for icon, where, way, keys in (
                (beside, "beside", Side, BESIDE),
                (below, "below", Above, BELOW),
            ):
                act = menu.addAction(icon, f"{text}, {where}")
                act.triggered.connect(lambda _=False, what=what, way=way: self.split_asked.emit(what, way))
                if what == SHELL:
                    act.setShortcut(QKeySequence(keys))
                    act.setEnabled(not self.alone)
        menu.addSeparator()
        self._offer_jobs(menu)
        menu.addSeparator()
        close = menu.addAction(self.context.theme.icon("x"), "Close this part", self._close)
        close.setShortcut(QKeySequence(CLOSE))
        close.setEnabled(self.closable)

    def _offer_jobs(self, menu: QMenu) -> None:
        others = [(job, name) for job, name in self.context.jobs.interactive() if job != self.job]
        for text, way, icon in (("beside", Side, "columns-2"), ("below", Above, "rows-2")):
            inner = menu.addMenu(self.context.theme.icon(icon), f"Another job, {text}")
            inner.setEnabled(bool(others))
            for job, name in others[:_MOST]:
                act = inner.addAction(name)
                act.triggered.connect(lambda _=False, job=job, way=way: self.split_asked.emit(job, way))

    def _split(self, way: Qt.Orientation) -> None:
        self.split_asked.emit(AGAIN if self.alone else SHELL, way)

    def _close(self) -> None:
        if self.closable:
            self.close_asked.emit()
