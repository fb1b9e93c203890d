"""A field for a whole number."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QSpinBox

_INSET = 7


class NumberEntry(QSpinBox):
    """A spin box whose text begins where that of a line does, which style sheets cannot ask for."""

    def __init__(self, **properties: Any) -> None:
        super().__init__(**properties)
        self.lineEdit().setTextMargins(_INSET, 0, 0, 0)

    def setAccessibleName(self, name: str) -> None:
        """Name the line too, which is what has the keyboard."""
        super().setAccessibleName(name)
        self.lineEdit().setAccessibleName(name)
