"""Where pictures of views go, and in which sizes they are taken."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLineEdit,
    QWidget,
)

PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
SIZES = ((1280, 800), (2560, 1440))
_KINDS = (QAbstractButton, QLineEdit, QAbstractItemView, QComboBox)


def nameless(window: QWidget) -> set[str]:
    """Visible controls that a screen reader has no name for."""
    found = [widget for kind in _KINDS for widget in window.findChildren(kind)]
    return {
        f"{type(widget).__name__} {widget.objectName()} in {type(widget.parent()).__name__}"
        for widget in found
        if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus and not _name(widget)
    }


def _name(widget: QWidget) -> str:
    told = QAccessible.queryAccessibleInterface(widget)
    return told.text(QAccessible.Text.Name) if told else widget.accessibleName()
