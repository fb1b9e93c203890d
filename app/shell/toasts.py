"""Notices inside the window: a few cards at the lower right, gone by themselves unless they are bad news."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QEnterEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.actions.table import BY_ID
from app.context import KEPT_CLEAR, Notice, Tone
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from app.context import AppContext

_STAYS = {Tone.NEUTRAL: 5000, Tone.GOOD: 6000, Tone.WARNING: 10_000, Tone.BAD: 20_000}
_ICONS = {
    Tone.NEUTRAL: "info",
    Tone.GOOD: "circle-check",
    Tone.WARNING: "triangle-alert",
    Tone.BAD: "circle-alert",
}
_MOST, _WIDTH, _GAP = 3, 380, 8
_LETTERS = 240
_LOOK = 300
"""Milliseconds between two looks at what notices would cover."""


class Toast(QFrame):
    """One notice; a click on a notice about a job selects the job."""

    def __init__(self, context: AppContext, notice: Notice, parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._notice = context, notice
        self.setProperty("role", "toast")
        self.setFixedWidth(_WIDTH)
        icon = QLabel()
        icon.setContentsMargins(0, 3, 0, 0)
        icon.setPixmap(context.theme.icon(_ICONS[notice.tone], notice.tone.value).pixmap(QSize(18, 18)))
        text = QLabel(_shown(notice.text), wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        close = tool_button(context.theme.icon("x", "muted"), "Dismiss", "Dismiss the notice")
        close.clicked.connect(self.leave)
        line = self._line = QHBoxLayout(self)
        line.setContentsMargins(12, 8, 8, 8)
        line.setSpacing(8)
        line.addWidget(icon, 0, Qt.AlignmentFlag.AlignTop)
        middle = QVBoxLayout()
        middle.setContentsMargins(0, 4, 0, 4)
        middle.addWidget(text)
        self._offer(middle)
        line.addLayout(middle, 1)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self, singleShot=True, interval=_STAYS[notice.tone])
        self._timer.timeout.connect(self.leave)
        self._timer.start()
        self.setAccessibleName(notice.text)

    def _offer(self, column: QVBoxLayout) -> None:
        if self._notice.action:
            row = QHBoxLayout()
            row.setSpacing(16)
            for name in filter(None, (self._notice.action, self._notice.other)):
                button = QPushButton(BY_ID[name].text)
                button.setProperty("kind", "quiet")
                button.setStyleSheet("padding-left: 0; padding-right: 0;")
                button.clicked.connect(partial(self._act, name))
                row.addWidget(button)
            row.addStretch(1)
            column.addLayout(row)
        elif self._notice.job:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def _act(self, action: str) -> None:
        if self._notice.job:
            self._context.show_job(self._notice.job)
        self._context.trigger(action)
        self.leave()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stay while it is read."""
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Go after a while once it is no longer read."""
        self._timer.start()
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Show the job the notice is about."""
        if self._notice.job:
            self._context.show_job(self._notice.job)
            self.leave()

    def fit(self) -> None:
        """As high as the words need within the frame."""
        frame = self.contentsMargins()
        within = _WIDTH - frame.left() - frame.right()
        self.setFixedHeight(self._line.heightForWidth(within) + frame.top() + frame.bottom())

    def leave(self) -> None:
        """Go away."""
        self.hide()
        self.deleteLater()


class Toasts(QObject):
    """The stack of notices of a window."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._shown: list[Toast] = []
        context.noticed.connect(self.show)
        # Lines to type in come and go beneath notices.
        self._looking = QTimer(self, interval=_LOOK)
        self._looking.timeout.connect(self._arrange)
        window.installEventFilter(self)

    def show(self, notice: Notice) -> None:
        """Show a notice above the others; the oldest make room."""
        toast = Toast(self._context, notice, self._window)
        toast.destroyed.connect(self._arrange)
        for old in self._alive()[: 1 - _MOST]:
            old.leave()
        toast.show()
        toast.fit()  # now that it wears its style
        self._shown.append(toast)
        toast.raise_()
        self._arrange()

    def _alive(self) -> list[Toast]:
        from shiboken6 import isValid

        self._shown = [toast for toast in self._shown if isValid(toast) and not toast.isHidden()]
        return self._shown

    def _arrange(self) -> None:
        from shiboken6 import isValid

        if not isValid(self._window) or not isValid(self._looking):
            return
        shown = self._alive()
        self._looking.start() if shown else self._looking.stop()
        bottom = self._bottom() - _GAP
        for toast in reversed(shown):
            bottom -= toast.height()
            toast.move(self._window.width() - toast.width() - 16, bottom)
            bottom -= _GAP

    def _bottom(self) -> int:
        """Above the status line, and above a line at the right in which something is typed."""
        lowest, left = self._window.height() - 40 + _GAP, self._window.width() - _WIDTH - 16
        for line in self._window.findChildren(QWidget, KEPT_CLEAR):
            corner = line.mapTo(self._window, line.rect().topRight())
            if line.isVisible() and corner.x() > left and corner.y() > self._window.height() // 2:
                lowest = min(lowest, corner.y())
        return lowest

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner of the window."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return False


def _shown(text: str) -> str:
    """As much of a notice as is read in passing; the list of notices has all of it."""
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS].rsplit(maxsplit=1)[0]} …"
