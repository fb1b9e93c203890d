"""Labels that wear a role of the stylesheet and never read markup from data."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy


def label(text: str = "", role: str = "", *, wrap: bool = False, fluid: bool = False) -> QLabel:
    """Return a plain-text label: role muted, small, title, strong, section...; `fluid` may be cut off."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if fluid:
        made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return made
