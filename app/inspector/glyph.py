"""The state of a job as a small shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme.faces import Face, face
from app.theme.glyphs import paint

if TYPE_CHECKING:
    from app.context import Theme


def face_of(row: dict[str, Any]) -> Face:
    """Return the face of a row, or of as much of a row as an event tells."""
    return face(
        row["state"], row.get("exit_code"), row.get("held") or "", row.get("canceling"), row.get("unheard")
    )


def draw_glyph(
    painter: QPainter, box: QRectF, row: dict[str, Any], theme: Theme, faint: bool = False
) -> None:
    """Draw the shape of a row's state into a square box; `faint`: in the colour of what is not reached."""
    shown = face_of(row)
    paint(painter, box, shown.shape, theme.color("faint" if faint else shown.token))


class StateGlyph(QWidget):
    """The shape as a small widget."""

    def __init__(self, theme: Theme, edge: int = 16, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._row: dict[str, Any] = {"state": "Submitted"}
        self.setFixedSize(QSize(edge, edge))
        theme.changed.connect(self.update)

    def show_row(self, row: dict[str, Any]) -> None:
        """Draw the state of this row."""
        self._row = row
        self.setAccessibleName(face_of(row).word)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shape."""
        painter = QPainter(self)
        draw_glyph(painter, QRectF(self.rect()), self._row, self._theme)
