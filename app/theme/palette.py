"""Tokens to a QPalette for the Fusion style."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPalette

from app.theme.tokens import Mode, value

_ROLES = {
    QPalette.ColorRole.Window: "ground",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "faint",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "negative",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "selection-text",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "code-function",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border-strong",
    QPalette.ColorRole.Shadow: "shadow",
}
_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


def palette(mode: Mode) -> QPalette:
    """Return the palette of a mode."""
    made = QPalette()
    for role, token in _ROLES.items():
        made.setColor(role, QColor(value(token, mode)))
    for role in _DISABLED:
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(value("faint", mode)))
    return made
