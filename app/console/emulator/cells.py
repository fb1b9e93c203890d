"""The 64 bits of a cell: what is in them, read for all rows that changed at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_CODEPOINT, _STYLE, _WIDE, _LINK = 2, 26, 42, 45
"""Where these lie in a cell; its two lowest bits tell what its text is."""
_LETTER, _GRAPHEME, _RGB = 0, 1, 3
_PLAIN_LETTERS = 0x180
"""Below this a character is one cell and has a glyph of its own in every font of the desktop."""
_GROUND = 1 << 40
"""Marks a cell that is nothing but its background, beside the numbers of styles."""
_PAGE = 44


class CellGrid:
    """Rows by columns of cells as the library holds them."""

    def __init__(self, raw: NDArray[np.uint64]) -> None:
        self._raw = raw
        self._tag = raw & 3
        self._wide = raw >> _WIDE & 3
        self._points = (raw >> _CODEPOINT & 0x1FFFFF).astype(np.uint32)
        self._odd = (self._tag != _LETTER) | (self._wide != 0) | (self._points >= _PLAIN_LETTERS)

    def letters(self) -> NDArray[np.uint32]:
        """Codepoints of plain letters; spaces where there is none."""
        letters = self._points.copy()
        letters[self._odd | (letters == 0)] = 32
        return letters

    def odd(self) -> list[tuple[int, int]]:
        """Row and column of characters that are wide, combined or no plain letters."""
        odd = self._odd & (self._tag <= _GRAPHEME) & (self._wide < 2)
        return [(row, column) for row, column in np.argwhere(odd).tolist()]

    def character(self, row: int, column: int) -> tuple[int, str]:
        """How many cells an odd character takes, and it; empty where it is combined of several."""
        cell = int(self._raw[row, column])
        text = "" if cell & 3 == _GRAPHEME else chr(cell >> _CODEPOINT & 0x1FFFFF)
        return 2 if cell >> _WIDE & 3 == 1 else 1, text

    def styles(self) -> NDArray[np.uint64]:
        """For each cell what tells its look from that of others in its page, see `Style`."""
        styles: NDArray[np.uint64] = np.bitwise_or(
            self._raw >> _STYLE & 0xFFFF, (self._raw >> _LINK & 1) << np.uint64(16)
        )
        bare = self._tag > _GRAPHEME
        if bare.any():
            colors = self._raw[bare] >> _CODEPOINT & 0xFFFFFF
            styles[bare] = _GROUND | colors | (self._tag[bare] == _RGB).astype(np.uint64) << 24
        return styles


def stretches(styles: NDArray[np.uint64], pages: list[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the distinct styles are first, and which of these each cell has; both over all cells in a line.

    Styles are numbered anew in each page, so that equal ones of two pages are two. `pages`: one a row.
    """
    line = styles.ravel()
    if len(set(pages)) > 1:
        numbers = {page: number for number, page in enumerate(dict.fromkeys(pages))}
        column = np.array([numbers[page] for page in pages], dtype=np.uint64)[:, None]
        line = np.bitwise_or(styles, column << _PAGE).ravel()
    starts = np.flatnonzero(np.concatenate(([True], line[1:] != line[:-1])))
    _, first, which = np.unique(line[starts], return_index=True, return_inverse=True)
    return starts[first], np.repeat(which, np.diff(np.append(starts, len(line))))


class Style(int):
    """What tells a look within its page: the number of a style, or the colour of a bare cell."""

    @property
    def bare(self) -> bool:
        """True for a cell that is nothing but its background."""
        return bool(self & _GROUND)

    @property
    def palette(self) -> int:
        """Number of a bare cell's colour in the palette, -1 where it is given by its parts."""
        return -1 if self >> 24 & 1 else self & 0xFF

    @property
    def color(self) -> int:
        """A bare cell's colour by its parts, 0xRRGGBB."""
        return (self & 0xFF) << 16 | (self & 0xFF00) | self >> 16 & 0xFF

    @property
    def link(self) -> bool:
        """True for text that is a link."""
        return bool(self >> 16 & 1)

    @property
    def number(self) -> int:
        """Number of the style, 0 plain."""
        return self & 0xFFFF
