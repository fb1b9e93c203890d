"""The page a pane shows instead of content: empty, loading, disconnected or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext

_BARS = (0.55, 0.9, 0.75, 0.4, 0.85, 0.65)


class EmptyState(QWidget):
    """A calm page: an icon, a heading, a sentence, and the one thing to do next."""

    acted = Signal()
    """The button was pressed."""
    other_acted = Signal()
    """The second button was pressed."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._icon, self._icon_token = "", "muted"
        self._bars = False
        self.picture = QLabel()
        self.heading, self.sentence = label(role="strong", wrap=True), label(role="muted", wrap=True)
        self.button, self.other = QPushButton(), QPushButton()
        self._lay_out()
        context.theme.changed.connect(self._restyle)
        self.say("", "", "")

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addStretch(2)
        for part in (self.picture, self.heading, self.sentence):
            part.setAlignment(Qt.AlignmentFlag.AlignCenter)
            part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
            column.addWidget(part)
        column.addSpacing(4)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        for button in (self.button, self.other):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addStretch(3)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button.clicked.connect(self.acted)
        self.other.clicked.connect(self.other_acted)

    def say(
        self,
        icon: str,
        heading: str,
        sentence: str,
        button: str = "",
        token: str = "muted",
        other: str = "",
    ) -> None:
        """Show a heading and a sentence; `button` and `other` empty hide the buttons."""
        self._bars = False
        self._icon, self._icon_token = icon, token
        self.heading.setText(heading)
        self.sentence.setText(sentence)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.other.setText(other)
        self.other.setVisible(bool(other))
        self.setAccessibleName(f"{heading}. {sentence}")
        self._restyle()

    def load(self) -> None:
        """Show the shape of what is coming."""
        self.say("", "", "")
        self._bars = True
        self.setAccessibleName("Loading")
        self.update()

    def _restyle(self) -> None:
        theme = self._context.theme
        if self._icon:
            self.picture.setPixmap(theme.icon(self._icon, self._icon_token).pixmap(32, 32))
        self.picture.setVisible(bool(self._icon))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the grey bars while loading."""
        if not self._bars:
            return super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._context.theme.color("border"))
        for number, share in enumerate(_BARS):
            painter.drawRoundedRect(QRectF(16, 20 + 28 * number, (self.width() - 32) * share, 10), 5, 5)
        return None
