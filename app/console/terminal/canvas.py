"""The picture of a terminal, composed from glyphs by whole arrays: more colours cost no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from app.console.emulator.frame import ScreenFrame, ScreenRow
from app.console.terminal.glyphs import LEVELS, Glyphs

Marks = Mapping[int, Sequence[tuple[int, int]]]
"""Row to first and last columns of what a search found there."""


class Colors:
    """The terminal's own colours, and those of the desktop's marks upon it."""

    def __init__(self, fg: QColor, bg: QColor, cursor: QColor, selection: QColor, mark: QColor) -> None:
        self.fg, self.bg, self.cursor, self.selection, self.mark = fg, bg, cursor, selection, mark


class Canvas:
    """An image of all cells in device pixels; `compose` brings rows up to date."""

    def __init__(self, glyphs: Glyphs, colors: Colors) -> None:
        self.glyphs, self.colors = glyphs, colors
        self._pixels = np.zeros((0, 0), dtype=np.uint32)
        self.image = QImage()
        self._coverage = np.zeros((0, 0, 0), dtype=np.uint8)
        self._index = np.zeros((0, 0), dtype=np.uint16)
        self._inks: tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]] | None = None
        self._cell_styles = 0

    def compose(self, frame: ScreenFrame, rows: Sequence[int], marks: Marks) -> None:
        """Paint some rows of a frame anew."""
        shape = len(frame.rows), len(frame.rows[0].letters) if frame.rows else 0
        self._fit(*shape)
        rows = [row for row in rows if row < shape[0]]
        if not rows:
            return
        inks, grounds, fonts = self.tables(frame)
        cell_styles = np.stack([frame.rows[row].cell_styles for row in rows])
        numbers = self._numbers([frame.rows[row] for row in rows], cell_styles, fonts)
        ink, ground = inks[cell_styles], grounds[cell_styles]
        for place, row in enumerate(rows):
            self._stain(ground[place], frame.rows[row], marks.get(row, ()))
        self._blend(rows, numbers, ink, ground)

    def tables(self, frame: ScreenFrame) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        """Colour of text, colour of ground and font of each look."""
        if self._inks is None or self._cell_styles != frame.cell_styles.edition:
            fg, bg = self.colors.fg.rgb() & 0xFFFFFF, self.colors.bg.rgb() & 0xFFFFFF
            self._inks, self._cell_styles = frame.cell_styles.inks(fg, bg), frame.cell_styles.edition
        return self._inks

    def _numbers(
        self, rows: list[ScreenRow], cell_styles: NDArray[np.uint16], fonts: NDArray[np.uint8]
    ) -> NDArray[np.int32]:
        styles = fonts[cell_styles]
        numbers = self.glyphs.letters(styles, np.stack([row.letters for row in rows]))
        for place, row in enumerate(rows):
            for column, columns, text in row.clusters:
                drawn = self.glyphs.cluster(text, int(styles[place, column]), columns)
                room = numbers[place, column : column + columns]
                room[:] = drawn[: len(room)]
        return numbers

    def _stain(self, ground: NDArray[np.uint32], row: ScreenRow, marks: Sequence[tuple[int, int]]) -> None:
        """Marks of a search, and the selection over them."""
        for first, last in marks:
            ground[first : last + 1] = self.colors.mark.rgb() & 0xFFFFFF
        if row.selected is not None:
            ground[row.selected[0] : row.selected[1] + 1] = self.colors.selection.rgb() & 0xFFFFFF

    def _blend(
        self,
        rows: list[int],
        numbers: NDArray[np.int32],
        ink: NDArray[np.uint32],
        ground: NDArray[np.uint32],
    ) -> None:
        """Each pixel is looked up by its pair of colours and its coverage.

        Row by row, into memory that is there already: whole screens at once would leave the caches.
        """
        pairs, which = np.unique(ink.astype(np.uint64) << 24 | ground, return_inverse=True)
        table, width = _steps(pairs), self.glyphs.width
        index = self._index if len(table) <= 1 << 16 else self._index.astype(np.uint32)
        base = (which.reshape(numbers.shape) * LEVELS).astype(index.dtype)
        lines = self._pixels.reshape(-1, *index.shape)
        # Nothing is out of bounds; "wrap" is the mode that costs least.
        for place, row in enumerate(rows):
            np.take(self.glyphs.masks, numbers[place], axis=1, out=self._coverage, mode="wrap")
            np.add(self._coverage.reshape(index.shape), np.repeat(base[place], width), out=index)
            np.take(table, index, out=lines[row], mode="wrap")

    def _fit(self, rows: int, columns: int) -> None:
        height, width = rows * self.glyphs.height, columns * self.glyphs.width
        if self._pixels.shape != (height, width):
            self._pixels = np.zeros((height, width), dtype=np.uint32)
            self.image = QImage(self._pixels.data, width, height, width * 4, QImage.Format.Format_RGB32)
            self.image.setDevicePixelRatio(self.glyphs.ratio)
            self._coverage = np.zeros((self.glyphs.height, columns, self.glyphs.width), dtype=np.uint8)
            self._index = np.zeros((self.glyphs.height, width), dtype=np.uint16)


def _steps(pairs: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """For each pair of ink and ground the colours between them, LEVELS in a row."""
    share = np.arange(LEVELS, dtype=np.float32) / (LEVELS - 1)
    table = np.zeros((len(pairs), LEVELS), dtype=np.uint32)
    for shift in (0, 8, 16):
        ground = (pairs >> np.uint64(shift) & 255).astype(np.float32)[:, None]
        ink = (pairs >> np.uint64(24 + shift) & 255).astype(np.float32)[:, None]
        table |= (ground + (ink - ground) * share + 0.5).astype(np.uint32) << np.uint32(shift)
    return table.ravel()
