"""The style below the stylesheet: text that came from others is never read as markup."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProxyStyle


class PlainStyle(QProxyStyle):
    """Fusion, whose labels show what they are given, tooltips and message boxes too.

    Qt takes a text for markup when it looks so. A label that is to show markup says so (`RichText`), and
    escapes what is not its own.
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    def polish(self, what: Any) -> Any:
        if isinstance(what, QLabel) and what.textFormat() == Qt.TextFormat.AutoText:
            what.setTextFormat(Qt.TextFormat.PlainText)
        return super().polish(what)
