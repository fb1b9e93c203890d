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
    from collections.abc import Callable

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
        self._context = context
        self.setProperty("role", "toast")
        self.setFixedWidth(_WIDTH)
        self._icon = QLabel()
        self._icon.setContentsMargins(0, 3, 0, 0)
        self._text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._tell(notice)
        close = tool_button(context.theme.icon("x", "muted"), "Dismiss", "Dismiss the notice")
        close.clicked.connect(self.leave)
        line = self._line = QHBoxLayout(self)
        line.setContentsMargins(12, 8, 8, 8)
        line.setSpacing(8)
        line.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        middle = QVBoxLayout()
        middle.setContentsMargins(0, 4, 0, 4)
        middle.addWidget(self._text)
        self._offer(middle)
        line.addLayout(middle, 1)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self, singleShot=True, interval=_STAYS[notice.tone])
        self._timer.timeout.connect(self.leave)
        self._timer.start()

    @property
    def topic(self) -> str:
        """What it is about; empty if no other notice takes its place."""
        return self._notice.topic

    def _tell(self, notice: Notice) -> None:
        self._notice = notice
        tone = notice.tone
        self._icon.setPixmap(self._context.theme.icon(_ICONS[tone], tone.value).pixmap(QSize(18, 18)))
        self._text.setText(_shown(notice.text))
        self.setAccessibleName(notice.text)

    def count_on(self, notice: Notice) -> None:
        """Say what has become of the same thing. A mere count does not make it stay longer."""
        lasts = not notice.counting or notice.tone is not self._notice.tone
        self._tell(notice)
        self.fit()
        if lasts:
            self._timer.start(_STAYS[notice.tone])

    @property
    def offers(self) -> bool:
        """It has buttons."""
        return bool(self._notice.action)

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

    def __init__(
        self, context: AppContext, window: QWidget, in_view: Callable[[Notice], bool] = lambda notice: False
    ) -> None:
        """`in_view`: whether the user sees anyway what a notice tells."""
        super().__init__(window)
        self._context, self._window, self._in_view = context, window, in_view
        self._shown: list[Toast] = []
        self._counted: dict[str, Tone] = {}
        """Topics that count on, and the tone in which the last notice of each was shown."""
        context.noticed.connect(self.show)
        context.withdrawn.connect(self.withdraw)
        # Lines to type in come and go beneath notices.
        self._looking = QTimer(self, interval=_LOOK)
        self._looking.timeout.connect(self._arrange)
        window.installEventFilter(self)

    def show(self, notice: Notice) -> None:
        """Show a notice above the others; the oldest make room.

        A count is shown once, and again when jobs begin to fail; after that only its end is.
        """
        for one in self._alive():
            if notice.topic and one.topic == notice.topic and not (notice.action or one.offers):
                one.count_on(notice)
                self._know(notice)
                self._arrange()
                return
        if notice.counting and self._counted.get(notice.topic) is notice.tone:
            return
        if self._in_view(notice):
            return
        self.withdraw(notice.topic)
        self._know(notice)
        toast = Toast(self._context, notice, self._window)
        toast.destroyed.connect(self._arrange)
        for old in self._alive()[: 1 - _MOST]:
            old.leave()
        toast.show()
        toast.fit()  # now that it wears its style
        self._shown.append(toast)
        toast.raise_()
        self._arrange()

    def _know(self, notice: Notice) -> None:
        if notice.counting:
            self._counted[notice.topic] = notice.tone
        else:
            self._counted.pop(notice.topic, None)

    def withdraw(self, topic: str) -> None:
        """Take the notices of a topic away."""
        for toast in self._alive():
            if topic and toast.topic == topic:
                toast.leave()
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
