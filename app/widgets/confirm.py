"""Asking before what destroys: says what, how many, and what can be undone. Never blocks the loop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def confirm(
    parent: QWidget, title: str, text: str, verb: str, act: Callable[[], object], *, danger: bool = True
) -> QMessageBox:
    """Open a question with the button `verb`, which calls `act`; Escape leaves everything as it is.

    `danger`: something is stopped or lost; else there is only much of it.
    """
    box = _box(parent, title, text)
    do = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    do.setProperty("kind", "danger" if danger else "primary")
    do.setAutoDefault(False)
    keep = box.addButton("Keep" if danger else "Cancel", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(keep)
    box.setEscapeButton(keep)
    do.clicked.connect(act)
    box.open()
    return box


def ask_to_save(
    parent: QWidget, title: str, save: Callable[[], object], discard: Callable[[], object]
) -> QMessageBox:
    """Open the question what becomes of unsaved text; Escape goes on with editing."""
    box = _box(parent, title, "Changes since the last save are lost otherwise.")
    first = box.addButton("Save", QMessageBox.ButtonRole.AcceptRole)
    first.setProperty("kind", "primary")
    away = box.addButton("Close without saving", QMessageBox.ButtonRole.DestructiveRole)
    away.setProperty("kind", "danger")
    away.setAutoDefault(False)
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
