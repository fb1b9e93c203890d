"""Desks that see a job's screen as video in tests, and frames of it that no agent of ours made."""

from __future__ import annotations

from fractions import Fraction

import av
import numpy as np

from app.inspector.view.display_pixels import DisplayPixels
from broker_core.interactive.channel.pictures import Grid, ScreenPicture
from broker_core.interactive.shadow.screen import RemoteScreen
from tests.interactive.screens import SeenScreen

_NEAR = 24
"""How much each color of video may differ from that of the screen."""


class DecodedScreen(SeenScreen):
    """Decodes and puts together as the View tab does."""

    shows_video = True

    def __init__(self, remote: RemoteScreen, *, confirms: bool = True) -> None:
        self.frames = 0
        self.exact = False
        self.decoded = DisplayPixels(Grid(0, 0))
        super().__init__(remote, confirms=confirms)

    def begin(self, grid: Grid, without_video: str) -> None:
        self.decoded = DisplayPixels(grid)
        super().begin(grid, without_video)

    def show(self, picture: ScreenPicture) -> None:
        image = self.decoded.put(picture)
        self.pixels = bytearray(image.constBits())
        self.frames += bool(picture.video)
        self.exact = self.decoded.exact
        self.pictures.append(picture)
        if self.confirms:
            self.remote.shown(picture.number)
        self.changed()


def near(color: int, wanted: int) -> bool:
    """Whether a color is another one, as well as video has it."""
    return color >= 0 and all(
        abs((color >> shift & 0xFF) - (wanted >> shift & 0xFF)) <= _NEAR for shift in (0, 8, 16)
    )


def frames(width: int, height: int, count: int = 1, codec: str = "libvpx-vp9") -> list[bytes]:
    """Frames of video with noise in them."""
    made = av.CodecContext.create(codec, "w")
    made.width, made.height, made.pix_fmt = width, height, "yuv420p"
    made.options = {"deadline": "realtime", "lag-in-frames": "0", "cpu-used": "8"}
    made.time_base = Fraction(1, 30)
    noise = np.random.default_rng(1)
    found = []
    for number in range(count):
        pixels = noise.integers(0, 255, (height, width, 3), np.uint8)
        frame = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(format="yuv420p")
        frame.pts = number
        found += [bytes(packet) for packet in made.encode(frame)]
    return found + [bytes(packet) for packet in made.encode(None)]
