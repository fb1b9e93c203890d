"""A terminal that programs believe in: output is fed in slices, painting does what changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QEvent, QPoint, QRect, QSize, QSizeF, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.console.emulator.finding import HitFinder
from app.console.emulator.frame import ScreenFrame
from app.console.emulator.ghostty import Ghostty
from app.console.emulator.keys import KeyEncoder
from app.console.emulator.output_feeder import OutputFeeder
from app.console.terminal.canvas import Canvas, Colors
from app.console.terminal.clipboard import Clip, put
from app.console.terminal.decorations import paint_cursor, paint_lines, paint_pictures
from app.console.terminal.glyphs import Glyphs, console_font
from app.console.terminal.input_target import InputTarget
from app.console.terminal.menu import offer
from app.console.terminal.palette import PALETTES
from app.console.terminal.pointer import Pointer
from app.console.terminal.shortcuts import run_shortcut

if TYPE_CHECKING:
    from app.context import AppContext

_FRAME = 16
"""Milliseconds between two paintings while output flows."""
_LEAST = QSize(100, 64)
"""Pixels in which a few lines can still be read."""
_MANY = 5000
"""Lines that flow anew, or are copied, in a few milliseconds."""
_SYNCHRONIZED, _HOLD = 2026, 150
"""The mode in which a program keeps its screen from being painted; milliseconds that it may."""
_BLINK, _SMALLEST, _LARGEST = 600, 7, 40
_BELL = 150
"""Milliseconds that a bell is seen."""


class TerminalView(QAbstractScrollArea):
    """The screen of a program. `typed` carries what the user does, `resized` its size in cells."""

    typed = Signal(bytes)
    keyed = Signal()
    """What is typed was not the mouse's."""
    answered = Signal(bytes)
    """Answers of the terminal to questions of the program."""
    resized = Signal(int, int)
    titled = Signal(str)
    rung = Signal()
    find_asked = Signal()
    link_opened = Signal(str)
    read = Signal(int)
    """So many bytes of output are on the screen now."""
    _gathered = Signal(object, object)
    """The text that was selected, and the clipboard they are for."""
    _idle = Signal()
    """What was done aside is done."""
    save_asked = Signal()
    clipboard_wanted = Signal(str)
    """The program wants a text on the clipboard; the pane decides."""

    def __init__(
        self, context: AppContext, parent: QWidget | None = None, scroll_back: int = 100_000
    ) -> None:
        super().__init__(parent)
        self._context = context
        self.terminal = Ghostty(80, 24, scroll_back)
        self.frame = ScreenFrame(self.terminal)
        self.keys = KeyEncoder(self.terminal)
        self._pointer = Pointer(self)
        self._zoom = 0
        self._placing = False
        self._lit = True
        self.input = InputTarget.SCREEN
        self.finding = HitFinder(self.terminal, self)
        self.finding.done.connect(self._show)
        self._intake = OutputFeeder(self.terminal, self)
        self._intake.read.connect(self._took)
        self._painting = QTimer(self, singleShot=True, interval=_FRAME)
        self._painting.timeout.connect(self.show_output)
        self._idle.connect(self._resume)
        self._gathered.connect(put)
        self._waiting: list[QKeyEvent] = []
        """Keys pressed while the terminal could not be asked how they are sent."""
        self._held = QElapsedTimer()
        self._blinking = QTimer(self, interval=_BLINK)
        self._blinking.timeout.connect(self._blink)
        self._bell = QTimer(self, singleShot=True, interval=_BELL)
        self._bell.timeout.connect(self.viewport().update)
        context.theme.changed.connect(self._dress)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setViewportMargins(8, 4, 4, 4)
        self.viewport().setMouseTracking(True)
        self._dress()

    def _dress(self) -> None:
        """Put on the colours and the font of the desktop, at the sharpness of the screen."""
        theme = self._context.theme
        fg, bg, cursor = theme.color("text"), theme.color("surface"), theme.color("accent")
        self.terminal.colors(fg.name(), bg.name(), cursor.name(), PALETTES[theme.shown])
        colors = Colors(fg, bg, cursor, theme.color("selection"), theme.color("find"))
        self.canvas = Canvas(Glyphs(self.face, self.devicePixelRatioF()), colors)
        self.frame.forget()
        self._fit()
        self._hear()

    @property
    def face(self) -> QFont:
        """The font of the desktop, larger or smaller as the user wants it here."""
        font = console_font(self._context)
        font.setPixelSize(min(max(_SMALLEST, font.pixelSize() + self._zoom), _LARGEST))
        return font

    def zoom(self, step: int) -> None:
        """Make letters larger or smaller by pixels; 0: as the desktop has them."""
        usual = self.face.pixelSize() - self._zoom
        wanted = self._zoom + step if step else 0
        if _SMALLEST <= usual + wanted <= _LARGEST:
            self._zoom = wanted
            self._dress()

    @property
    def cell(self) -> QSizeF:
        """Size of a cell in logical pixels."""
        glyphs = self.canvas.glyphs
        return QSizeF(glyphs.width / glyphs.ratio, glyphs.height / glyphs.ratio)

    # Output of the program

    def feed(self, data: bytes, *, past: bool = False, by_lines: bool = False) -> None:
        """Take output; it is read in slices. Questions in what is `past` were answered by another desk."""
        self._intake.take(data, past=past, by_lines=by_lines)

    @property
    def behind(self) -> int:
        """Bytes of output that were taken and not read yet."""
        return self._intake.behind

    def _took(self, size: int) -> None:
        """Some output was read: tell, and paint soon."""
        self.read.emit(size)
        self._hear()
        if not self._painting.isActive():
            self._painting.start()

    def _hear(self) -> None:
        said = self.terminal.said()
        if said.replies:
            self.answered.emit(bytes(said.replies))
        if said.bells:
            self._ring()
        if said.titled:
            self.titled.emit(self.terminal.title)
        for text in said.clipboard:
            self.clipboard_wanted.emit(text)

    def _ring(self) -> None:
        """A bell is seen as a frame of light, and not heard."""
        self._bell.start()
        self.viewport().update()
        self.rung.emit()

    def show_output(self) -> None:
        """Show what was read, unless the program is in the middle of a synchronized update (mode 2026)."""
        if not self.terminal.mode(_SYNCHRONIZED):
            self._held.invalidate()
        elif not self._held.isValid():
            self._held.start()
        if self._held.isValid() and not self._held.hasExpired(_HOLD):
            self._painting.start()
        else:
            self._show()

    def _show(self) -> None:
        """Compose what changed, and have it painted."""
        if self.terminal.busy:
            return
        rows = self.finding.renewed(self.frame.update())
        self.canvas.compose(self.frame, rows, self.finding.marks)
        self._place_bar()
        if len(rows) > len(self.frame.rows) // 2:
            self.viewport().update()
            return
        for row in rows:
            self.viewport().update(self._box(row))

    def find_text(self, text: str) -> None:
        """Mark every place of a text, searching in the turns that follow."""
        self.finding.begin(text)
        self._painting.start()

    def find_step(self, way: int) -> tuple[int, int]:
        """Go to the next hit, -1 towards the past; its number and how many there are."""
        found = self.finding.step(way)
        self._painting.start()
        return found

    def _box(self, row: int) -> QRect:
        """The pixels of a row."""
        height = self.cell.height()
        return QRect(0, int(row * height), self.viewport().width(), math.ceil(height) + 1)

    def refresh(self) -> None:
        """Show at once what the view or selection has become."""
        self._show()

    # Size and scrolling

    def _fit(self) -> None:
        """As many cells as there is room for. Very many lines flow anew beside the window."""
        if self.terminal.busy:
            return
        cell = self.cell
        columns = max(2, int(self.viewport().width() / cell.width()))
        rows = max(1, int(self.viewport().height() / cell.height()))
        if (columns, rows) == self.terminal.size:
            self._show()
            return
        size = (columns, rows, self.canvas.glyphs.width, self.canvas.glyphs.height)
        if self.terminal.scroll().total > _MANY:
            self.terminal.aside(lambda: self.terminal.resize(*size), self._idle.emit)
        else:
            self.terminal.resize(*size)
            self._show()
        self.resized.emit(columns, rows)

    def _resume(self) -> None:
        """The terminal can be asked again: do what has waited for it."""
        self._intake.go_on()
        self.finding.go_on()
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self.keyPressEvent(event)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        return _LEAST

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _place_bar(self) -> None:
        where = self.terminal.scroll()
        bar = self.verticalScrollBar()
        self._placing = True
        bar.setRange(0, max(0, where.total - where.shown))
        bar.setPageStep(where.shown)
        bar.setValue(where.offset)
        self._placing = False

    def _scrolled(self, value: int) -> None:
        if not self._placing:
            self.terminal.scroll_to(value)
            self._show()

    def scroll_lines(self, lines: int) -> None:
        """Move the view through the scroll-back."""
        self.terminal.scroll_by(lines)
        self._show()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the picture, and draw over it what is no glyph: lines, pictures, the cursor."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.canvas.colors.bg)
        painter.setClipRect(event.rect())
        painter.drawImage(0, 0, self.canvas.image)
        height = self.cell.height()
        rows = range(int(event.rect().top() / height), int(event.rect().bottom() / height) + 1)
        paint_lines(painter, self.frame, rows, self.cell, self.canvas)
        paint_pictures(painter, self.frame, rows, self.cell, self.face)
        shown = self.input is InputTarget.SCREEN and self.frame.cursor.row in rows
        if shown and (self._lit or not self.hasFocus()):
            paint_cursor(painter, self.frame, self.cell, self.canvas, focused=self.hasFocus())
        if self._bell.isActive():
            painter.setPen(QPen(self.canvas.colors.cursor, 3))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -2, -2))

    def _blink(self) -> None:
        lit = not self._lit if self.frame.cursor.blinking else True
        if lit != self._lit:
            self._lit = lit
            self.viewport().update(self._box(self.frame.cursor.row))

    # Keys

    def event(self, event: QEvent) -> bool:
        """All keys belong to the program while the terminal has the focus, but for those of the console."""
        if isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride:
                event.setAccepted(self.input.takes(QKeySequence(event.keyCombination())))
                return True
            if event.type() is QEvent.Type.KeyPress and self.input.takes_tab(event.key()):
                self.keyPressEvent(event)
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.terminal.busy:
            self._waiting.append(event.clone())
            return
        if not run_shortcut(self, event):
            self._send(self.keys.key(event))

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if not self.terminal.busy:
            self._send(self.keys.key(event))

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        if event.commitString():
            self._send(event.commitString().encode())
        event.accept()

    def _send(self, data: bytes) -> None:
        if data and self.input is not InputTarget.NOBODY:
            self._lit = True
            self.terminal.deselect()
            self.terminal.scroll_to_end()
            self.typed.emit(data)
            self.keyed.emit()
            self.show_output()

    def copy(self, where: Clip = Clip.Clipboard) -> None:
        """Copy the selection; very many lines are gathered beside the window."""
        if not self.terminal.has_selection:
            return
        if self.terminal.scroll().total > _MANY:
            self.terminal.aside(lambda: self._gathered.emit(self.terminal.selected(), where), self._idle.emit)
        else:
            put(self.terminal.selected(), where)

    def paste(self, text: str | None = None) -> None:
        """Type the clipboard, or `text`."""
        chosen = QGuiApplication.clipboard().text() if text is None else text
        if chosen:
            self._send(self.keys.paste(chosen))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done here."""
        offer(self, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._blinking.start()
        self._focused(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._blinking.stop()
        self._focused(False)

    def _focused(self, gained: bool) -> None:
        if told := self.keys.focus(gained):
            self.typed.emit(told)
        self.viewport().update()

    # Mouse

    def cell_at(self, point: QPoint) -> tuple[int, int]:
        """The cell at a pixel, the nearest one where it is outside."""
        columns, rows = self.terminal.size
        column = min(max(0, int(point.x() / self.cell.width())), columns - 1)
        return column, min(max(0, int(point.y() / self.cell.height())), rows - 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pointer.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.press(event, double=True)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._pointer.wheel(event)
