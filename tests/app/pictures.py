"""Where pictures of views go, and in which sizes they are taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLineEdit,
    QWidget,
)

PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
PICTURES.mkdir(parents=True, exist_ok=True)
SIZES = ((1280, 800), (2560, 1440))
_GAP, _CAPTION = 8, 28
_SMOOTH = Qt.TransformationMode.SmoothTransformation
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


def contact_sheet(
    pictures: Sequence[tuple[str, QPixmap]], path: Path, across: int = 3, width: int = 640
) -> None:
    """Put pictures with their names beside and below each other into one file."""
    small = [(name, one.scaledToWidth(width, _SMOOTH)) for name, one in pictures]
    high = max(one.height() for _, one in small) + _CAPTION
    sheet = QPixmap(across * (width + _GAP), -(-len(small) // across) * high)
    sheet.fill(Qt.GlobalColor.gray)
    painter = QPainter(sheet)
    for number, (name, one) in enumerate(small):
        left, top = number % across * (width + _GAP), number // across * high
        painter.drawText(left + _GAP, top + _CAPTION - _GAP, name)
        painter.drawPixmap(left, top + _CAPTION, one)
    painter.end()
    assert sheet.save(str(path))
