"""Input by lines, as the bypass agent takes it: at Enter, with what waits to be sent in sight (CB-BYP-07)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.console.lines.pending_list import LineList
from app.console.lines.queue import LineQueue, QueuedLine
from app.context import KEPT_CLEAR
from app.widgets.labels import give_way, label
from broker_core.client.interactive import ENDED, SessionState, Status

if TYPE_CHECKING:
    from app.context import AppContext

_KEPT = 200
"""Lines that the arrow keys bring back."""
_THERE = (SessionState.CONNECTED, SessionState.DRAINING)
_WHY = {
    SessionState.STARTING: "until the program runs",
    SessionState.BUFFERING: "until the connection is back",
}


class LineEdit(QLineEdit):
    """A line with its history; what is being typed is kept while one looks at older ones."""

    ended = Signal()
    """Ctrl-D in an empty line."""
    pasted = Signal(list)
    """Whole lines of the clipboard; what follows the last of them is in the line."""

    def __init__(self) -> None:
        super().__init__()
        self._past: list[str] = []
        self._place = 0
        self._draft = ""

    def remember(self, text: str) -> None:
        """Keep a line that was entered; an equal one is kept once."""
        if text and self._past[-1:] != [text]:
            self._past = [*self._past[-_KEPT + 1 :], text]
        self._place, self._draft = len(self._past), ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if step:
            self._leaf(step)
        elif control and event.key() == Qt.Key.Key_D and not self.text():
            self.ended.emit()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self._paste(QGuiApplication.clipboard().text())
        else:
            super().keyPressEvent(event)

    def _leaf(self, step: int) -> None:
        if self._place == len(self._past):
            self._draft = self.text()
        self._place = min(max(0, self._place + step), len(self._past))
        self.setText(self._past[self._place] if self._place < len(self._past) else self._draft)

    def _paste(self, text: str) -> None:
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if whole:
            self.insert(whole[0])
            whole[0] = self.text()
            self.clear()
            self.pasted.emit(whole)
        self.insert(rest)


class LineEntry(QWidget):
    """One line to type, entered with Enter; above it the lines that have not left yet."""

    sent = Signal(bytes)
    """Input for the program, now."""
    ended = Signal()
    """No input follows; everything before it is at the node."""
    left = Signal()
    """The keyboard was here, and there is nothing more to type."""
    lost = Signal(int)
    """So many lines may not have arrived, because another desk took the input over."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(KEPT_CLEAR)
        self.queue = LineQueue()
        self._status = Status()
        self.line, self.waiting = LineEdit(), label(role="small", wrap=True)
        self.lines = LineList(context, self.queue)
        self.end = QPushButton("End of input")
        self.end.setToolTip("The program reads no more after this (Ctrl-D in an empty line)")
        self.line.setFont(context.theme.font("mono"))
        self.line.setAccessibleName("Line for the program")
        self._lay_out()
        self.line.returnPressed.connect(lambda: self._enter([self.line.text()]))
        self.line.pasted.connect(self._enter)
        self.line.ended.connect(self._end)
        self.end.clicked.connect(self._end)
        self.lines.changed.connect(self._go)
        self._show()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        give_way(self.waiting)
        column.addWidget(self.waiting)
        column.addWidget(self.lines)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.line, 1)
        row.addWidget(self.end)
        column.addLayout(row)

    def show_status(self, status: Status) -> None:
        """The session stands so now: send what can be sent, tell what waits and why."""
        had, self._status = self._status.writer, status
        self.queue.confirm(status.sent)
        if had and not status.writer and (lost := self.queue.lose()):
            for entry in lost:
                self.line.remember(entry.text)
            self.lost.emit(len(lost))
        self._go()

    def take(self, text: str) -> None:
        """Type here what was typed elsewhere in the console."""
        if not self.line.isEnabled():
            return
        self.line.setFocus()
        self.line.insert("".join(letter for letter in text if letter.isprintable()))

    def _enter(self, texts: list[str]) -> None:
        for text in texts:
            self.line.remember(text)
            self.queue.add(QueuedLine(text))
        self.line.clear()
        self._go()

    def _end(self) -> None:
        self.queue.add(QueuedLine(is_end=True))
        self._go()

    def _go(self) -> None:
        """Let what may leave go."""
        ready = self._status.state in _THERE and self._status.writer and not self.lines.editing
        for entry in self.queue.leaving() if ready else ():
            if entry.is_end:
                self.ended.emit()
            else:
                self.sent.emit(entry.data)
        self._show()

    def _show(self) -> None:
        self.lines.renew()
        answers = self._status.state in _THERE and not self._status.silent
        late = bool(self.queue.waiting) or (bool(self.queue.under_way) and not answers)
        self.lines.setVisible(late)
        self.waiting.setText(self._sentence())
        self.waiting.setVisible(late)
        over = self.queue.ends
        self._open(is_open=not over and self._status.state not in ENDED)
        hint = "The input has ended" if over else "Line for the program; F6 leaves the console"
        self.line.setPlaceholderText(hint)

    def _open(self, *, is_open: bool) -> None:
        """Let lines be typed, or no more: then the keyboard must not wander to a button elsewhere."""
        focused = QApplication.focusWidget()
        if not is_open and focused is not None and self.isAncestorOf(focused):
            self.left.emit()
        for part in (self.line, self.end):
            part.setEnabled(is_open)

    def _sentence(self) -> str:
        number = len(self.queue.waiting)
        if not number:
            return "On the way to the node; sent again if it was lost."
        why = _WHY.get(self._status.state, "until the program reads on")
        if self._status.state in _THERE and not self._status.writer:
            why = f"until you type here{': another context does' if self._status.taken else ''}"
        wait = "1 line waits" if number == 1 else f"{number:,} lines wait"
        return f"{wait} {why}. Double-click a line to change it, Del takes it back."
