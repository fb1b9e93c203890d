"""What the mouse does in a terminal: select, paste, follow links, or go to the program that wants it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent

from app.console.emulator.keys import MOTION, PRESS, RELEASE, WHEEL_DOWN, WHEEL_UP
from app.console.emulator.links import link_at
from app.console.terminal.clipboard import Clip

if TYPE_CHECKING:
    from app.console.terminal.surface import TerminalSurface

_LINES = 3
"""Lines that one notch of the wheel moves."""
_NOTCH = 120
_APPLICATION_KEYS = 1
_Shift = Qt.KeyboardModifier.ShiftModifier
_Control, _Alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
_Left = Qt.MouseButton.LeftButton
_CREEP = 40
"""Milliseconds between two steps while something is selected beyond what is in sight."""


class Pointer:
    """The mouse over one terminal. Shift keeps it from a program that wants it."""

    def __init__(self, view: TerminalSurface) -> None:
        self._view = view
        self._from: tuple[int, int] | None = None
        """Where a selection began: its column, and its line counted from the oldest."""
        self._by = ""
        """What is selected as a whole: cells, words or lines."""
        self._clicks, self._clicked = 0, 0.0
        self._turned = 0
        self._held = QPoint()
        self._block = False
        self._creeping = QTimer(view.viewport(), interval=_CREEP)
        self._creeping.timeout.connect(self._creep)

    def press(self, event: QMouseEvent, *, double: bool = False) -> None:
        """A button went down."""
        if self._tell(PRESS, event, event.button()):
            return
        at = self._view.cell_at(event.position().toPoint())
        if event.button() is Qt.MouseButton.MiddleButton:
            self._view.paste(QGuiApplication.clipboard().text(QGuiApplication.clipboard().Mode.Selection))
        elif event.button() is _Left:
            self._select(event, at, double)

    def _select(self, event: QMouseEvent, at: tuple[int, int], double: bool) -> None:
        if event.modifiers() & _Control and (link := link_at(self._view.terminal, at)):
            self._from = None
            self._view.link_opened.emit(link)
            return
        now = time.monotonic()
        quick = now - self._clicked < QGuiApplication.styleHints().mouseDoubleClickInterval() / 1000
        self._clicks, self._clicked = (self._clicks + 1 if quick else 1), now
        self._by = "word" if double or self._clicks == 2 else "line" if self._clicks >= 3 else ""
        if event.modifiers() & _Shift and self._from is not None:
            self._extend(at)
            return
        self._from = at[0], at[1] + self._view.terminal.scroll().offset
        self._view.terminal.deselect()
        if self._by:
            self._extend(at)
        self._view.refresh()

    def _extend(self, at: tuple[int, int], *, block: bool = False) -> None:
        """Select from where it began to a cell."""
        if self._from is not None:
            column, line = self._from
            terminal = self._view.terminal
            begin = column, line - terminal.scroll().offset
            terminal.select(begin, at, block=block, by=self._by)
            self._view.refresh()

    def move(self, event: QMouseEvent) -> None:
        """The mouse moved, with a button held or without."""
        held = next((one for one in (_Left, Qt.MouseButton.MiddleButton) if event.buttons() & one), None)
        told = self._tell(MOTION, event, held or 0)
        self._shape(event, told=told)
        if told or held is not _Left or self._from is None:
            return
        self._held, self._block = event.position().toPoint(), bool(event.modifiers() & _Alt)
        self._extend(self._view.cell_at(self._held), block=self._block)
        if not 0 <= self._held.y() <= self._view.viewport().height():
            self._creeping.start()
        else:
            self._creeping.stop()

    def _shape(self, event: QMouseEvent, *, told: bool) -> None:
        """Show what a click would do: follow a link, select, or go to the program."""
        shape = Qt.CursorShape.ArrowCursor if told else Qt.CursorShape.IBeamCursor
        at = self._view.cell_at(event.position().toPoint())
        if not told and event.modifiers() & _Control and link_at(self._view.terminal, at):
            shape = Qt.CursorShape.PointingHandCursor
        if self._view.viewport().cursor().shape() is not shape:
            self._view.viewport().setCursor(shape)

    def _creep(self) -> None:
        """While the mouse is held above or below, what is there comes into sight: the farther, the faster."""
        height = self._view.viewport().height()
        over = self._held.y() if self._held.y() < 0 else max(0, self._held.y() - height)
        step = 1 + int(abs(over) / self._view.cell.height())
        self._view.scroll_lines(-step if over < 0 else step)
        self._extend(self._view.cell_at(self._held), block=self._block)

    def release(self, event: QMouseEvent) -> None:
        """A button came up: what is selected is what the middle button pastes elsewhere."""
        self._creeping.stop()
        if self._tell(RELEASE, event, event.button()) or event.button() is not _Left:
            return
        self._view.copy(Clip.Selection)

    def wheel(self, event: QWheelEvent) -> None:
        """Scroll back, or tell the program; full-screen ones that want no mouse get arrow keys."""
        self._turned += event.angleDelta().y()
        notches = int(self._turned / _NOTCH)
        self._turned -= notches * _NOTCH
        if not notches:
            return
        view = self._view
        up = notches > 0
        if view.terminal.takes_mouse and not event.modifiers() & _Shift:
            for _ in range(abs(notches)):
                self._send(PRESS, WHEEL_UP if up else WHEEL_DOWN, event)
        elif view.terminal.alternate:
            arrow = b"\x1bO" if view.terminal.mode(_APPLICATION_KEYS) else b"\x1b["
            view.typed.emit((arrow + (b"A" if up else b"B")) * (abs(notches) * _LINES))
        else:
            view.scroll_lines(-notches * _LINES)

    def _tell(self, action: int, event: QMouseEvent, button: Qt.MouseButton | int) -> bool:
        """Give an event to a program that wants the mouse; False where it is the desktop's own."""
        if not self._view.terminal.takes_mouse or event.modifiers() & _Shift:
            return False
        self._send(action, button, event)
        return True

    def _send(self, action: int, button: Qt.MouseButton | int, event: QMouseEvent | QWheelEvent) -> None:
        view, at = self._view, event.position()
        cell, size = (round(view.cell.width()), round(view.cell.height())), view.viewport().size()
        told = view.keys.mouse(
            action, button, (at.x(), at.y()), cell, (size.width(), size.height()), event.modifiers()
        )
        if told:
            view.typed.emit(told)
