"""The pixels of a display as its pictures leave them. No widgets."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QImage

from broker_core.interactive.channel.pictures import PIXEL, PLANES, Grid, ScreenPicture

_OPAQUE = 255


class DisplayPixels:
    """All of a display, black at first."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._pixels = np.zeros((grid.height, grid.width, PIXEL), np.uint8)
        self._pixels[..., PLANES] = _OPAQUE

    def put(self, picture: ScreenPicture) -> QImage:
        """Paint the tiles of a picture over what there is; returns all of it."""
        for index, content in picture.tiles:
            left, top, width, height = self._grid.box(index)
            planes = np.frombuffer(content, np.uint8).reshape(PLANES, height, width)
            self._pixels[top : top + height, left : left + width, :PLANES] = planes.transpose(1, 2, 0)
        width, height = self._grid.width, self._grid.height
        made = QImage(self._pixels.data, width, height, PIXEL * width, QImage.Format.Format_RGB32)
        return made.copy()
