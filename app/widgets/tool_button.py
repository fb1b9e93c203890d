"""A button that shows an icon alone, with the words that say what it does."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QToolButton


def tool_button(icon: QIcon, tip: str, name: str = "") -> QToolButton:
    """Return a button with `tip` as its tooltip and `name` (the tip, if none is given) for screen readers."""
    button = QToolButton()
    button.setIcon(icon)
    button.setToolTip(tip)
    button.setAccessibleName(name or tip)
    return button
