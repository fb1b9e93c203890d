"""Second step of adding a site: looking what is there, with the questions that come up on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from app.sites.question import QuestionForm
from app.widgets.labels import label

if TYPE_CHECKING:
    from broker_core.wire.sites import Detection, DetectRequest, QuestionView


class LookStep(QWidget):
    """A bar that moves while the broker looks, the question it waits for, or why it found nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = False
        self.said, self.bar = label(wrap=True), QProgressBar(textVisible=False)
        self.bar.setRange(0, 0)
        self.bar.setAccessibleName("Connecting")
        self.fault = label(role="negative", wrap=True)
        self.fault.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.form = QuestionForm()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        for part in (self.said, self.bar, self.fault, self.form):
            column.addWidget(part)

    def begin(self, request: DetectRequest) -> None:
        """Show that it began."""
        self.failed = False
        self._where = request.url or request.host or "this machine"
        self.said.setText(
            f"Connecting to {self._where}."
            if request.host or request.url
            else "Searching for a batch system on this machine."
        )
        self.bar.show()
        self.fault.hide()
        self.form.ask(None)

    def knows(self, question: QuestionView) -> bool:
        """True if this question is shown already."""
        return self.form.question is not None and self.form.question.id == question.id

    def no_keyring(self, why: str) -> None:
        """Say why nothing can be kept; empty: it can."""
        self.form.no_keyring(why)

    def show_found(self, found: Detection, question: QuestionView | None, note: str = "") -> None:
        """Show how far it is; a question puts the bar away until it is answered."""
        new = question is not None and not self.knows(question)
        self.form.ask(question, note)
        self.bar.setVisible(question is None)
        if question is not None:
            self.said.setText(f"{self._where} asks you something before it lets you in.")
        else:
            self.said.setText(
                found.reason or f"Connected to {self._where}. Searching for batch systems, queues, software."
            )
        if new:
            self.form.take_focus()

    def fail(self, why: str) -> None:
        """Say why nothing was found."""
        self.failed = True
        self.bar.hide()
        self.form.ask(None)
        self.said.setText(f"Could not connect to {self._where}.")
        self.fault.setText(why)
        self.fault.show()

    def take_focus(self) -> None:
        """Give the keyboard to the question, if there is one."""
        if self.form.question is not None:
            self.form.take_focus()
