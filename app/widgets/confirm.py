"""Asking before what destroys: says what, how many, and what can be undone. Never blocks the loop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QMessageBox, QPushButton, QWidget


def confirm(
    parent: QWidget,
    title: str,
    text: str,
    verb: str,
    act: Callable[[], object],
    *,
    danger: bool = True,
    keep: str = "",
) -> QMessageBox:
    """Open a question with the button `verb`, which calls `act`; Escape leaves everything as it is.

    Return presses the button that has the keyboard; at first that is the one that changes nothing.
    `danger`: something is stopped or lost; else there is only much of it. `keep`: what changes nothing.
    """
    box = _box(parent, title, text)
    do = _button(box, verb, QMessageBox.ButtonRole.DestructiveRole, "danger" if danger else "primary")
    stay = box.addButton(keep or ("Keep" if danger else "Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    do.clicked.connect(act)
    box.open()
    return box


def ask_to_save(
    parent: QWidget, title: str, save: Callable[[], object], discard: Callable[[], object]
) -> QMessageBox:
    """Open the question what becomes of unsaved text; Escape goes on with editing."""
    box = _box(parent, title, "Changes since the last save are lost otherwise.")
    first = _button(box, "Save", QMessageBox.ButtonRole.AcceptRole, "primary")
    away = _button(box, "Close without saving", QMessageBox.ButtonRole.DestructiveRole, "danger")
    box.setDefaultButton(first)
    box.setEscapeButton(box.addButton("Keep editing", QMessageBox.ButtonRole.RejectRole))
    first.clicked.connect(lambda: save())
    away.clicked.connect(lambda: discard())
    box.open()
    return box


def tell(parent: QWidget, title: str, text: str) -> QMessageBox:
    """Open words that stay until they were read, and can be copied."""
    box = _box(parent, title, text)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    box.addButton("Close", QMessageBox.ButtonRole.RejectRole)
    box.open()
    return box


def _box(parent: QWidget, title: str, text: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("CrossDesk")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(title)
    box.setInformativeText(text)
    return box


def ask_name(parent: QWidget, title: str, label: str, name: str, then: Callable[[str], object]) -> None:
    """Ask for a name, `name` being offered; `then` gets it without blanks around it, unless it is empty."""
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(name)
    dialog.setOkButtonText("Save")
    dialog.textValueSelected.connect(lambda text: then(text.strip()) if text.strip() else None)
    dialog.open()


def _button(box: QMessageBox, text: str, role: QMessageBox.ButtonRole, kind: str) -> QPushButton:
    """Add a button of a kind, which Return presses while it is focused."""
    made = box.addButton(text, role)
    made.setProperty("kind", kind)
    made.setAutoDefault(True)
    made.style().unpolish(made)
    made.style().polish(made)  # the box has dressed it already
    return made
