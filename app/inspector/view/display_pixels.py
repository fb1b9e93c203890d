"""The pixels of a display as its pictures leave them. No widgets."""

from __future__ import annotations

from typing import cast

import av
import numpy as np
from av.video.codeccontext import VideoCodecContext
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from broker_core.interactive.channel.pictures import PIXEL, PLANES, VP9, BadPicture, Grid, ScreenPicture

_OPAQUE = 255
_AROUND = 128
"""Pixels of a side that the decoder counts beside those of the screen, at most: it takes whole blocks."""


class DisplayPixels:
    """All of a display, black at first."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._pixels = np.zeros((grid.height, grid.width, PIXEL), np.uint8)
        self._pixels[..., PLANES] = _OPAQUE
        self._inexact: set[int] = set()
        self._decoder: VideoCodecContext | None = None

    @property
    def exact(self) -> bool:
        """Every pixel is as it is at the node."""
        return not self._inexact

    def put(self, picture: ScreenPicture) -> QImage:
        """Paint a picture over what there is; returns all of it. Raises BadPicture."""
        if picture.video:
            self._put_video(picture)
        for index, content in picture.tiles:
            left, top, width, height = self._grid.box(index)
            planes = np.frombuffer(content, np.uint8).reshape(PLANES, height, width)
            self._pixels[top : top + height, left : left + width, :PLANES] = planes.transpose(1, 2, 0)
            self._inexact.discard(index)
        width, height = self._grid.width, self._grid.height
        made = QImage(self._pixels.data, width, height, PIXEL * width, QImage.Format.Format_RGB32)
        return made.copy()

    def _put_video(self, picture: ScreenPicture) -> None:
        frame = self._decoded(picture.video)
        for index in picture.moved:
            left, top, width, height = self._grid.box(index)
            box = slice(top, top + height), slice(left, left + width)
            self._pixels[box] = frame[box]
        self._inexact.update(picture.moved)

    def _decoded(self, content: bytes) -> NDArray[np.uint8]:
        """Rows of pixels; whatever a frame says, none much larger than the display is made."""
        grid = self._grid
        if self._decoder is None:
            self._decoder = cast(VideoCodecContext, av.CodecContext.create(VP9, "r"))
            self._decoder.thread_count = 1
            most = (grid.width + _AROUND) * (grid.height + _AROUND)
            self._decoder.options = {"max_pixels": str(most)}
        try:
            frames = self._decoder.decode(av.Packet(content))
        except (av.error.FFmpegError, ValueError) as error:
            raise BadPicture("a frame of video cannot be decoded") from error
        if len(frames) != 1 or (frames[0].width, frames[0].height) != (grid.width, grid.height):
            raise BadPicture("a frame of video is none, or has another size than the screen")
        plane = frames[0].reformat(format="bgra", interpolation="FAST_BILINEAR").planes[0]
        rows = np.frombuffer(cast(memoryview, plane), np.uint8)
        rows = rows.reshape(grid.height, plane.line_size // PIXEL, PIXEL)
        return rows[:, : grid.width]
