"""The face that descriptions are written in."""

from __future__ import annotations

from PySide6.QtGui import QFont

from app.theme.theme import Theme


def code_font(theme: Theme) -> QFont:
    """The monospaced face without ligatures: an operator is shown as it is written, not as one sign."""
    font = QFont(theme.font("mono"))
    font.setFeature(QFont.Tag("calt"), 0)
    return font
