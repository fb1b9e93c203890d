"""The line above a terminal: where the session stands, and what can be done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.console.session_style import SESSION_STYLES, SessionStyle, sentence, style_of_session
from app.console.terminal.shortcuts import FIND
from app.widgets.glyphs import paint
from app.widgets.labels import give_way, label
from app.widgets.tool_button import tool_button
from broker_core.client.interactive import ENDED, SessionState, Status

if TYPE_CHECKING:
    from app.context import AppContext

_TOOLS = (
    ("forwards", "network", "Forwards: ports of this machine that lead to the job"),
    ("find", "search", "Find in the console (Ctrl+Shift+F)"),
    ("save", "save", "Save the transcript"),
)
_SIGNALS = (
    ("INT", "Interrupt (INT)"),
    ("TERM", "Ask it to end (TERM)"),
    ("KILL", "End it at once (KILL)"),
)
_NARROW = 480
"""Pixels below which the sentence has a line of its own."""
_BESIDE = 400
"""Pixels that everything beside the sentence needs at most."""
_TIGHT, _NAMED = 340, 140
"""Pixels below which some buttons are in a menu, and that a name needs."""
_LEAST = 280
_HEARS = (SessionState.CONNECTED, SessionState.DRAINING)


class _Light(QWidget):
    """The shape of the state."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.shown: SessionStyle = SESSION_STYLES[SessionState.STARTING]
        self.setFixedSize(QSize(14, 14))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        paint(painter, QRectF(self.rect()), self.shown.shape, self._context.theme.color(self.shown.token))


class ConsoleToolbar(QWidget):
    """State, sentence, and buttons that fit the state."""

    tool = Signal(str)
    """`find`, `save` or `forwards`."""
    acted = Signal(str)
    """`take` the input, `reconnect` now, or show the program's `windows` here."""
    signal_chosen = Signal(str)
    """A signal for the program, such as `INT`."""
    closed = Signal()
    """This part is to be closed."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._light = _Light(context)
        self.name, self.word = label(role="strong"), label(role="strong")
        self.told = label(role="muted")
        self.act = QPushButton()
        self._wish = ""
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(12, 6, 8, 6)
        self._lines.setSpacing(2)
        self._first = QHBoxLayout()
        self._sentence = QWidget()
        sentence = QHBoxLayout(self._sentence)
        sentence.setContentsMargins(0, 0, 0, 0)
        sentence.addWidget(self.told, 1)
        sentence.addWidget(self.act)
        for part in (self._light, self.name, self.word):
            self._first.addWidget(part)
        self.name.hide()
        self._first.setSpacing(8)
        self._first.addLayout(self._buttons(context))
        self._lines.addLayout(self._first)
        self._narrow: bool | None = None
        self._arrange()
        self.act.clicked.connect(lambda: self.acted.emit(self._wish))
        self.show_status(Status())

    def _buttons(self, context: AppContext) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        self.signals = menu_button(context, "ban", "Send a signal to the program")
        self.signals.setMenu(self._offer_signals(QMenu(self.signals)))
        self.more = menu_button(context, "menu", "More")
        more = QMenu(self.more)
        more.addAction("Find…", lambda: self.tool.emit("find")).setShortcut(QKeySequence(FIND))
        more.addAction("Save the transcript…", lambda: self.tool.emit("save"))
        more.addSeparator()
        self._offer_signals(more)
        more.aboutToShow.connect(self._allow_signals)
        self.more.setMenu(more)
        self.tools = {name: tool_button(context.theme.icon(icon), said) for name, icon, said in _TOOLS}
        for name, button in self.tools.items():
            button.clicked.connect(lambda _=False, name=name: self.tool.emit(name))
        self.tools["forwards"].setCheckable(True)
        self.split = menu_button(context, "columns-2", "Split the console")
        self.close_part = tool_button(context.theme.icon("x"), "Close this part; the program goes on")
        self.close_part.clicked.connect(self.closed)
        self.close_part.hide()
        for one in (self.signals, *self.tools.values(), self.more, self.split, self.close_part):
            row.addWidget(one)
        return row

    def _allow_signals(self) -> None:
        for act in self.more.menu().actions()[3:]:
            act.setEnabled(self.signals.isEnabled())

    def _offer_signals(self, menu: QMenu) -> QMenu:
        for name, said in _SIGNALS:
            act = menu.addAction(said)
            act.triggered.connect(lambda _=False, name=name: self.signal_chosen.emit(name))
        return menu

    def call(self, name: str) -> None:
        """Say whose console it is, where several stand beside each other."""
        self.name.setText(self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, _NAMED - 40))
        self.name.setToolTip(name)
        self.name.setVisible(bool(name))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the line where it is narrow."""
        super().resizeEvent(event)
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        """What a line that is broken needs; else it would never get narrow enough to be broken."""
        return QSize(_LEAST, super().minimumSizeHint().height())

    def _arrange(self) -> None:
        """The sentence stands beside the state where there is room, else below it and wrapped."""
        wide = self.told.fontMetrics().horizontalAdvance(self.told.text()) + _BESIDE
        narrow = self.width() < max(_NARROW, wide + self.act.sizeHint().width() * (not self.act.isHidden()))
        tight = self.width() < _TIGHT + (_NAMED if self.name.text() else 0)
        for one in (self.signals, self.tools["find"], self.tools["save"]):
            one.setHidden(tight)
        self.more.setHidden(not tight)
        if narrow is not self._narrow:
            self._narrow = narrow
            self._first.removeWidget(self._sentence)
            self._lines.removeWidget(self._sentence)
            if narrow:
                self._lines.addWidget(self._sentence)
            else:
                self._first.insertWidget(3, self._sentence, 1)
            self._first.setStretchFactor(self.word, 1 if narrow else 0)
            self.told.setWordWrap(narrow)
            give_way(self.told)

    def show_status(self, status: Status) -> None:
        """Show where the session stands."""
        style = style_of_session(status)
        self._light.shown = style
        self.word.setText(style.word)
        told = sentence(status)
        self.told.setText(told)
        key = f"Key of the agent: {status.fingerprint}" if status.fingerprint else ""
        self.told.setToolTip("\n".join(part for part in (told, key) if part))
        self._wish, said = _offer(status)
        self.act.setText(said)
        self.act.setVisible(bool(said))
        self._sentence.setVisible(bool(told or said))
        self._arrange()
        self.signals.setEnabled(status.state in _HEARS and status.writer)
        self.tools["forwards"].setEnabled(status.state not in ENDED and not status.notice)
        self.setAccessibleName(f"{style.word}. {told}" if told else style.word)
        self._light.update()


def menu_button(context: AppContext, icon: str, said: str) -> QToolButton:
    """A button that opens its menu at once."""
    button = tool_button(context.theme.icon(icon), said)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    return button


def _offer(status: Status) -> tuple[str, str]:
    """What the button does in a state, and its words."""
    if status.state is SessionState.BUFFERING or status.silent:
        return "reconnect", "Try now"
    if status.state in ENDED or status.state is SessionState.STARTING:
        return "", ""
    if status.writer and status.windows and _has_display():
        return "windows", "Show windows"
    return ("", "") if status.writer else ("take", "Take over")


def _has_display() -> bool:
    """Whether windows of a program of X11 can be shown here."""
    return bool(os.environ.get("DISPLAY"))
