"""How cells look: numbered, so that rows hold small numbers and painting looks colours up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_MOST = 4096
PLAIN, LINK = 0, 1
_LEAST = 3.5
"""Contrast at which named colours can be read."""
_MIDDLE = 0.18
"""A ground that is lighter goes with black."""


@dataclass(frozen=True, slots=True)
class CellStyle:
    """How cells are painted; colours 0xRRGGBB, -1: that of the terminal."""

    fg: int = -1
    bg: int = -1
    bold: bool = False
    italic: bool = False
    faint: bool = False
    inverse: bool = False
    invisible: bool = False
    strikethrough: bool = False
    overline: bool = False
    underline: int = 0
    """0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed."""
    underline_color: int = -1
    link: bool = False
    named: bool = False
    """Both colours are among the sixteen, which are ours: they are made to go with each other."""

    @property
    def ruled(self) -> bool:
        """True if lines are drawn through or along it."""
        return bool(self.underline or self.strikethrough or self.overline or self.link)

    @property
    def font(self) -> int:
        """0 plain, 1 bold, 2 italic, 3 both."""
        return int(self.bold) | int(self.italic) << 1


class CellStyles:
    """All looks on the screen. Number 0 is that of plain text, 1 that of a plain link."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.all: list[CellStyle] = []
        self.edition = 0
        """Rises with each change."""
        self.clear()

    def clear(self) -> None:
        """Forget all but the first two; rows read before have to be read again."""
        self.edition += 1
        self.numbers.clear()
        self.all[:] = [CellStyle(), CellStyle(link=True)]

    @property
    def full(self) -> bool:
        """True when it is time to clear."""
        return len(self.all) > _MOST

    def plain(self, link: bool) -> int:
        """The look of text without a style."""
        return LINK if link else PLAIN

    def ground(self, color: int) -> int:
        """The look of a cell that is nothing but its background."""
        found = self.numbers.get(color)
        return self.add(color, CellStyle(bg=color)) if found is None else found

    def add(self, key: object, cell_style: CellStyle) -> int:
        """Number a look that is known by `key` from now on."""
        self.edition += 1
        number = self.numbers[key] = len(self.all)
        self.all.append(cell_style)
        return number

    def inks(self, fg: int, bg: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        """Colour of text, colour of ground and font of each look, for a terminal of these colours."""
        pairs = [_pair(cell_style, fg, bg) for cell_style in self.all]
        return (
            np.array([ink for ink, _ in pairs], dtype=np.uint32),
            np.array([ground for _, ground in pairs], dtype=np.uint32),
            np.array([cell_style.font for cell_style in self.all], dtype=np.uint8),
        )


def _pair(cell_style: CellStyle, fg: int, bg: int) -> tuple[int, int]:
    ink = fg if cell_style.fg < 0 else cell_style.fg
    ground = bg if cell_style.bg < 0 else cell_style.bg
    if cell_style.inverse:
        ink, ground = ground, ink
    if cell_style.invisible:
        return ground, ground
    if cell_style.named:
        ink = _readable(ink, ground)
    return (_mixed(ink, ground, 0.6) if cell_style.faint else ink), ground


def _mixed(one: int, other: int, share: float) -> int:
    parts = (
        round((one >> shift & 255) * share + (other >> shift & 255) * (1 - share)) << shift
        for shift in (16, 8, 0)
    )
    return sum(parts)


@lru_cache(_MOST)
def _readable(ink: int, ground: int) -> int:
    """The colour, moved towards black or white as far as it must be to be read."""
    towards = 0xFFFFFF if _light(ground) < _MIDDLE else 0
    shares = (1.0, 0.75, 0.5, 0.25)
    tries = (_mixed(ink, towards, share) for share in shares)
    return next((one for one in tries if _contrast(one, ground) >= _LEAST), towards)


def _contrast(one: int, other: int) -> float:
    """As WCAG 2 has it, from 1 to 21."""
    dark, light = sorted((_light(one), _light(other)))
    return (light + 0.05) / (dark + 0.05)


def _light(color: int) -> float:
    parts = ((color >> shift & 255) / 255 for shift in (16, 8, 0))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
