"""The line above a terminal: where the session stands, and what can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from app.console.words import FACES, SessionFace, sentence
from app.inspector.labels import label
from app.theme.glyphs import paint
from broker_core.client.interactive import ENDED, SessionState, Status

if TYPE_CHECKING:
    from app.context import Desk

_TOOLS = (
    ("find", "search", "Find in the console (Ctrl+Shift+F)"),
    ("save", "save", "Save the transcript"),
)


class _Light(QWidget):
    """The shape of the state."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.face: SessionFace = FACES[SessionState.STARTING]
        self.setFixedSize(QSize(14, 14))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        paint(painter, QRectF(self.rect()), self.face.shape, self._desk.theme.color(self.face.token))


class Strip(QWidget):
    """State, sentence, and buttons that fit the state."""

    tool = Signal(str)
    """`find` or `save`."""
    acted = Signal(str)
    """`take` the input, or `reconnect` now."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._light = _Light(desk)
        self.word, self.told = label(role="strong"), label(role="muted")
        self.act = QPushButton()
        self._wish = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(8)
        row.addWidget(self._light)
        row.addWidget(self.word)
        row.addWidget(self.told, 1)
        row.addWidget(self.act)
        for name, icon, said in _TOOLS:
            button = QToolButton()
            button.setIcon(desk.theme.icon(icon))
            button.setToolTip(said)
            button.setAccessibleName(said)
            button.clicked.connect(lambda _=False, name=name: self.tool.emit(name))
            row.addWidget(button)
        self.act.clicked.connect(lambda: self.acted.emit(self._wish))
        self.show_status(Status())

    def show_status(self, status: Status) -> None:
        """Show where the session stands."""
        face = FACES[status.state]
        self._light.face = face
        self.word.setText(face.word)
        told = sentence(status)
        self.told.setText(told)
        self.told.setToolTip(f"Key of the agent: {status.fingerprint}" if status.fingerprint else "")
        self._wish, said = _offer(status)
        self.act.setText(said)
        self.act.setVisible(bool(said))
        self.setAccessibleName(f"{face.word}. {told}" if told else face.word)
        self._light.update()


def _offer(status: Status) -> tuple[str, str]:
    """What the button does in a state, and its words."""
    if status.state is SessionState.BUFFERING:
        return "reconnect", "Try now"
    if status.state in ENDED or status.state is SessionState.STARTING:
        return "", ""
    return ("", "") if status.writer else ("take", "Type here")
