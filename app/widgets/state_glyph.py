"""The state of a job as a small shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.widgets.glyphs import paint
from app.widgets.state_style import UNHEARD, StateStyle, style_of

if TYPE_CHECKING:
    from app.theme.theme import Theme


def style_of_row(row: dict[str, Any]) -> StateStyle:
    """Return the style of a row, or of as much of a row as an event tells."""
    return style_of(
        row["state"],
        row.get("exit_code"),
        row.get("held") or "",
        row.get("canceling"),
        row.get("unheard"),
        signal=row.get("signal"),
        reason=row.get("reason") or "",
    )


def draw_glyph(
    painter: QPainter, box: QRectF, row: dict[str, Any], theme: Theme, faint: bool = False
) -> None:
    """Draw the shape of a row's state into a square box; `faint`: in the colour of what is not reached."""
    shown = style_of_row(row)
    paint(painter, box, shown.shape, theme.color("faint" if faint else shown.token))


class StateGlyph(QWidget):
    """The shape as a small widget."""

    def __init__(self, theme: Theme, edge: int = 16, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._style = UNHEARD
        self.setFixedSize(QSize(edge, edge))
        theme.changed.connect(self.update)

    def show_row(self, row: dict[str, Any]) -> None:
        """Draw the state of this row."""
        self.show_style(style_of_row(row))

    def show_style(self, style: StateStyle) -> None:
        """Draw the shape of this style."""
        self._style = style
        self.setAccessibleName(style.word)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shape."""
        painter = QPainter(self)
        paint(painter, QRectF(self.rect()), self._style.shape, self._theme.color(self._style.token))
