"""A note above the screen of a console: what its session lacks, or what its program asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.widgets.labels import give_way, label

if TYPE_CHECKING:
    from app.context import AppContext

_ICON = 16


class NoteBar(QFrame):
    """A sentence with a sign, and buttons if something is to be decided; hidden until there is a note."""

    chosen = Signal(str)
    """The text of the button that was pressed; the note is put away."""

    def __init__(
        self, context: AppContext, icon: str, tone: str, *buttons: str, parent: QWidget | None = None
    ) -> None:
        """`tone`: `warning` or `muted`."""
        super().__init__(parent)
        self._context, self._icon, self._tone = context, icon, tone
        self.setProperty("role", f"banner-{tone}")
        self._sign, self.text = QLabel(), label(wrap=True)
        self.buttons = {text: QPushButton(text) for text in buttons}
        self.away = QToolButton(autoRaise=True)
        self.away.setToolTip("Dismiss")
        self.away.setAccessibleName("Dismiss")
        self.away.clicked.connect(self.hide)
        give_way(self.text)
        self._lay_out()
        context.theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(8)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(8)
        column.addWidget(self.text)
        if self.buttons:
            choices = QHBoxLayout()
            choices.setSpacing(8)
            for text, button in self.buttons.items():
                button.clicked.connect(lambda _=False, text=text: self._choose(text))
                choices.addWidget(button)
            choices.addStretch(1)
            column.addLayout(choices)
        row.addLayout(column, 1)
        row.addWidget(self.away, 0, Qt.AlignmentFlag.AlignTop)

    def tell(self, note: str) -> None:
        """Show a note; empty: none. What was put away is not shown again until it is another one."""
        if note != self.text.text():
            self.text.setText(note)
            self.setVisible(bool(note))

    def ask(self, question: str) -> None:
        """Show a question, each time."""
        self.text.setText(question)
        self.show()

    def _choose(self, text: str) -> None:
        self.hide()
        self.chosen.emit(text)

    def _dress(self) -> None:
        self._sign.setPixmap(self._context.theme.icon(self._icon, self._tone).pixmap(_ICON, _ICON))
        self.away.setIcon(self._context.theme.icon("x", "muted"))
