"""A question of a site, answered where it stands: a host key to trust, a passphrase, a password."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.theme.theme import MONO
from app.widgets.labels import give_way, label
from app.widgets.save_dialog import FileDialog

if TYPE_CHECKING:
    from broker_core.wire.sites import QuestionView

REFUSED = "The answer that is kept in the keyring was not accepted."
"""Note below a question; what is typed then takes its place, if the tick is left."""
_LONG = re.compile(r"\S{24}(?=\S{8})")
"""Fingerprints and paths have no place of their own where a line may end."""
_BREAK = "\\g<0>\u200b"
_FINGERPRINT = re.compile(r"SHA256:[\w+/=\u200b]+")
TRUSTS = {"trust-host": "Trust this host"}
"""Kinds that are answered with yes or no, and the words for yes."""
_FIELDS = {
    "passphrase": "Passphrase",
    "password": "Password",
    "code": "Code",
    "proxy": "Proxy file",
    "changed-host": "Fingerprint",
}
_VERBS = {"passphrase": "Unlock", "proxy": "Use", "changed-host": "Trust the new key"}


class QuestionForm(QWidget):
    """The text of a question and what answers it; a new question replaces the one before."""

    answered = Signal(object, str, bool)
    """The question, the value (empty: declined), and whether to keep it in the keyring."""

    def __init__(self, no_keyring: str = "") -> None:
        super().__init__()
        self.question: QuestionView | None = None
        self._wished = ""
        """Entry of the keyring that the tick speaks of: it stands when the same is asked once more."""
        self.text = label(wrap=True)
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        give_way(self.text)
        self.field = QLineEdit()
        self.keep = QCheckBox("Keep in the keyring")
        self.why = label(role="small", wrap=True)
        self.note = label(role="negative", wrap=True)
        self.choose = QPushButton("Choose…")
        self.choose.clicked.connect(self._choose)
        self.yes, self.no = QPushButton(), QPushButton("Not now")
        self.no.setProperty("kind", "quiet")
        self._lay_out()
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._refresh)
        self.yes.clicked.connect(self._answer)
        self.no.clicked.connect(self._decline)
        self.no_keyring(no_keyring)
        self.ask(None)

    def _lay_out(self) -> None:
        given, buttons = QHBoxLayout(), QHBoxLayout()
        for row in (given, buttons):
            row.setSpacing(8)
        given.addWidget(self.field, 1)
        given.addWidget(self.choose)
        buttons.addWidget(self.yes)
        buttons.addWidget(self.no)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.text)
        column.addWidget(self.note)
        column.addLayout(given)
        column.addWidget(self.keep)
        column.addLayout(buttons)
        column.addWidget(self.why)

    def no_keyring(self, why: str) -> None:
        """Say why nothing can be kept; empty: it can."""
        self._no_keyring = why
        self._refresh()

    def ask(self, question: QuestionView | None, note: str = "") -> None:
        """Show a question (None hides it); the same question again keeps what was typed."""
        if question is not None and self.question is not None and question.id == self.question.id:
            self._tell(note)
            return
        self.question = question
        self.setVisible(question is not None)
        self.field.clear()
        if question is None:
            self._tell(note)
            return
        if self._wished != question.keep_as:
            self.keep.setChecked(False)
        self._wished = question.keep_as
        self._tell(note)
        self._fit(question)

    def _fit(self, question: QuestionView) -> None:
        self.text.setText(_set_in_type(question.text))
        self.text.setAccessibleName(question.text)
        trusts = question.kind in TRUSTS
        self.field.setVisible(not trusts)
        self.field.setEchoMode(QLineEdit.EchoMode.Password if question.secret else QLineEdit.EchoMode.Normal)
        name = _FIELDS.get(question.kind, "Answer")
        self.field.setPlaceholderText(name)
        self.field.setAccessibleName(f"{name}: {question.text}")
        self.yes.setText(TRUSTS.get(question.kind) or _VERBS.get(question.kind, "Connect"))
        self.yes.setProperty("kind", "danger" if question.kind == "changed-host" else "primary")
        self.yes.style().polish(self.yes)
        self.choose.setVisible(question.kind == "proxy")
        self.setEnabled(True)
        self._refresh()

    def take_focus(self) -> None:
        """Give the keyboard to what is answered first."""
        (self.no if self.field.isHidden() else self.field).setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return answers, and does nothing else: it must not press a button of the window around."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._answer()
            return True
        return False

    def _tell(self, note: str) -> None:
        if note == REFUSED != self.note.text():
            self.keep.setChecked(True)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def _refresh(self) -> None:
        keepable = self.question is not None and bool(self.question.keep_as)
        self.keep.setVisible(keepable and not self._no_keyring)
        self.why.setVisible(keepable and bool(self._no_keyring))
        self.why.setText(self._no_keyring)
        self.yes.setEnabled(self.field.isHidden() or bool(self.field.text()))

    def _choose(self) -> None:
        dialog = FileDialog(self.window(), "Choose the proxy file")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.field.setText)
        dialog.open()

    def _answer(self) -> None:
        question = self.question
        if question is None or not self.yes.isEnabled():
            return
        value = "yes" if question.kind in TRUSTS else self.field.text()
        keep = self.keep.isChecked() and self.keep.isVisibleTo(self)
        self.field.clear()
        self.setEnabled(False)
        self.answered.emit(question, value, keep)

    def _decline(self) -> None:
        if self.question is not None:
            self.setEnabled(False)
            self.answered.emit(self.question, "", False)


def _set_in_type(text: str) -> str:
    """Return a question as rich text: a fingerprint is compared letter by letter, so its letters are as
    wide as each other, and long words may be broken where a line ends."""
    lines = escape(_LONG.sub(_BREAK, text)).replace("\n", "<br>")
    return _FINGERPRINT.sub(f"<span style=\"font-family: '{MONO}'\">\\g<0></span>", lines)
