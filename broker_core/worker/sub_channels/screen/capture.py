"""What changed on a screen, tile by tile, packed once for all who see it."""

from __future__ import annotations

import zlib
from typing import Protocol

from broker_core.interactive.channel.pictures import PIXEL, PLANES, TILE, Grid

_LEVEL = 1
"""Of compression: more saves little, and costs much time."""


class PixelSource(Protocol):
    """A screen."""

    width: int
    height: int
    stride: int
    """Bytes from one row to the next."""

    def pixels(self) -> bytes:
        """What it shows now, row by row."""
        ...


class ScreenCapture:
    """The screen as it was last captured. Belongs to one thread at a time."""

    def __init__(self, screen: PixelSource) -> None:
        self._screen = screen
        self.grid = Grid(screen.width, screen.height)
        self.number = 0
        """Of the newest capture that differed from the one before."""
        self._bands: list[bytes] = [b""] * -(-screen.height // TILE)
        """Rows of pixels, as high as a tile."""
        self._tiles: list[bytes] = [b""] * self.grid.count
        self._changed = [0] * self.grid.count
        """Number of the capture in which each tile changed last."""
        self.last_changed = [0.0] * self.grid.count
        """When that was."""
        self._packed: list[bytes] = [b""] * self.grid.count
        """Packed tiles; empty: not since it changed."""
        self.pixels = b""
        """What the screen showed, row by row."""

    @property
    def stride(self) -> int:
        """Bytes from one row of the pixels to the next."""
        return self._screen.stride

    def take(self, now: float) -> None:
        """Capture what the screen shows now, in seconds of any clock."""
        self.pixels = pixels = self._screen.pixels()
        number = self.number + 1
        size = TILE * self._screen.stride
        for row, before in enumerate(self._bands):
            band = pixels[row * size : (row + 1) * size]
            if band != before:
                self._bands[row] = band
                self._compare(row, band, number, now)

    def since(self, number: int) -> list[int]:
        """Indexes of all tiles that changed after that capture."""
        return [index for index, last in enumerate(self._changed) if last > number]

    def packed(self, index: int) -> bytes:
        """The planes of a tile, packed once for all who want them."""
        if not self._packed[index]:
            tile = self._tiles[index]
            planes = b"".join(tile[color::PIXEL] for color in range(PLANES))
            self._packed[index] = zlib.compress(planes, _LEVEL)
        return self._packed[index]

    def _compare(self, row: int, band: bytes, number: int, now: float) -> None:
        stride, columns = self._screen.stride, self.grid.columns
        for index in range(row * columns, (row + 1) * columns):
            left, _, width, height = self.grid.box(index)
            first, size = left * PIXEL, width * PIXEL
            tile = b"".join(band[at : at + size] for at in range(first, height * stride + first, stride))
            if tile != self._tiles[index]:
                self._tiles[index], self._packed[index] = tile, b""
                self._changed[index] = self.number = number
                self.last_changed[index] = now
