"""Text of a terminal on its way to the clipboard."""

from __future__ import annotations

from PySide6.QtGui import QClipboard, QGuiApplication

Clip = QClipboard.Mode


def put(text: str, where: Clip = Clip.Clipboard) -> None:
    """Put a text there, if there is any, and such a clipboard."""
    clipboard = QGuiApplication.clipboard()
    if text and (where is Clip.Clipboard or clipboard.supportsSelection()):
        clipboard.setText(text, where)
