"""Characters as small pictures of coverage, each drawn once by Qt and kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QImage, QPainter

if TYPE_CHECKING:
    from app.context import AppContext

LEVELS = 16
"""Steps of coverage between ground and ink."""
_PLAIN_LETTERS = 0x180


def console_font(context: AppContext) -> QFont:
    """The font that the user chose for consoles; that of the desktop where this machine does not have it."""
    font: QFont = context.theme.font("mono")
    chosen = context.preferences["console_font"]
    if chosen and chosen in QFontDatabase.families():
        font.setFamily(chosen)
    return font


class Glyphs:
    """Pictures of one cell in size: `masks[:, number]` has a step of coverage for each pixel."""

    def __init__(self, font: QFont, ratio: float = 1.0) -> None:
        """`ratio`: device pixels of one logical pixel."""
        self._fonts = [_font(font, style) for style in range(4)]
        metrics = QFontMetricsF(font)
        self.ratio = ratio
        self.width = max(1, round(metrics.horizontalAdvance("0") * ratio))
        self.height = max(1, round(metrics.height() * ratio))
        """Size of a cell in device pixels."""
        self.ascent = metrics.ascent()
        self.masks = np.zeros((self.height, 256, self.width), dtype=np.uint8)
        self._count = 1  # number 0 is blank
        self.plain = np.full((4, _PLAIN_LETTERS), -1, dtype=np.int32)
        """Font and codepoint to number; -1: not drawn yet. For plain letters."""
        self.plain[:, 32] = self.plain[:, 0] = 0
        self._clusters: dict[tuple[int, int, str], tuple[int, ...]] = {}

    def font(self, style: int) -> QFont:
        """The font of a style: 0 plain, 1 bold, 2 italic, 3 both."""
        return self._fonts[style]

    def letters(self, fonts: NDArray[np.uint8], points: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Numbers of plain letters, drawn where they are new."""
        numbers = self.plain[fonts, points]
        if numbers.size and numbers.min() < 0:
            missing = np.flatnonzero(numbers.ravel() < 0)
            pairs = {(int(fonts.flat[place]), int(points.flat[place])) for place in missing}
            for style, point in sorted(pairs):
                self.plain[style, point] = self._draw(chr(point), style, 1)[0]
            numbers = self.plain[fonts, points]
        return numbers

    def cluster(self, text: str, style: int, columns: int) -> tuple[int, ...]:
        """Numbers of one character that may be wide or combined: one for each of its cells."""
        key = (style, columns, text)
        found = self._clusters.get(key)
        if found is None:
            found = self._clusters[key] = self._draw(text, style, columns)
        return found

    def _draw(self, text: str, style: int, columns: int) -> tuple[int, ...]:
        picture = QImage(self.width * columns, self.height, QImage.Format.Format_Grayscale8)
        picture.fill(0)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.scale(self.ratio, self.ratio)
        painter.setFont(self._fonts[style])
        painter.setPen(QColor("white"))
        painter.drawText(QPointF(0, self.ascent), text)
        painter.end()
        lines = np.frombuffer(picture.constBits(), dtype=np.uint8).reshape(self.height, -1)
        steps = ((lines[:, : self.width * columns].astype(np.uint16) * (LEVELS - 1) + 127) // 255).astype(
            np.uint8
        )
        return tuple(
            self._keep(steps[:, place * self.width : (place + 1) * self.width]) for place in range(columns)
        )

    def _keep(self, mask: NDArray[np.uint8]) -> int:
        if self._count == self.masks.shape[1]:
            self.masks = np.concatenate([self.masks, np.zeros_like(self.masks)], axis=1)
        self.masks[:, self._count] = mask
        self._count += 1
        return self._count - 1


def _font(font: QFont, style: int) -> QFont:
    made = QFont(font)
    made.setBold(bool(style & 1))
    made.setItalic(bool(style & 2))
    # Kerning and ligatures would move characters out of their cells.
    made.setKerning(False)
    made.setStyleStrategy(QFont.StyleStrategy.NoSubpixelAntialias)
    return made
