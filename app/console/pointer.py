"""What the mouse does in a terminal: select, paste, follow links, or go to the program that wants it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QWheelEvent

from app.console.clipboard import Clip
from app.console.keys import MOTION, PRESS, RELEASE, WHEEL_DOWN, WHEEL_UP

if TYPE_CHECKING:
    from app.console.terminal import TerminalView

_LINES = 3
"""Lines that one notch of the wheel moves."""
_NOTCH = 120
_APPLICATION_KEYS = 1
_Shift = Qt.KeyboardModifier.ShiftModifier
_Left = Qt.MouseButton.LeftButton


class Pointer:
    """The mouse over one terminal. Shift keeps it from a program that wants it."""

    def __init__(self, view: TerminalView) -> None:
        self._view = view
        self._from: tuple[int, int] | None = None
        self._clicks, self._clicked = 0, 0.0
        self._turned = 0

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
        terminal = self._view.terminal
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and (link := terminal.link(at)):
            self._view.link_opened.emit(link)
            return
        now = time.monotonic()
        quick = now - self._clicked < QGuiApplication.styleHints().mouseDoubleClickInterval() / 1000
        self._clicks, self._clicked = (self._clicks + 1 if quick else 1), now
        if event.modifiers() & _Shift and self._from is not None:
            terminal.select(self._from, at)
        elif double or self._clicks == 2:
            terminal.select_word(at)
        elif self._clicks >= 3:
            terminal.select_line(at)
        else:
            terminal.deselect()
            self._from = at
        self._view.refresh()

    def move(self, event: QMouseEvent) -> None:
        """The mouse moved, with a button held."""
        held = next((one for one in (_Left, Qt.MouseButton.MiddleButton) if event.buttons() & one), None)
        if self._tell(MOTION, event, held or 0) or held is not _Left or self._from is None:
            return
        point = event.position().toPoint()
        if point.y() < 0 or point.y() > self._view.viewport().height():
            self._view.scroll_lines(-1 if point.y() < 0 else 1)
        block = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        self._view.terminal.select(self._from, self._view.cell_at(point), block=block)
        self._view.refresh()

    def release(self, event: QMouseEvent) -> None:
        """A button came up: what is selected is what the middle button pastes elsewhere."""
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
        """Give an event to a program that wants the mouse; False where it is the desk's own."""
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
