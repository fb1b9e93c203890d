"""Desks that see a job's screen in tests, and programs that draw on it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from broker_core.interactive.channel.pictures import PIXEL, PLANES, Grid, ScreenPicture
from broker_core.interactive.shadow.screen import RemoteScreen
from broker_core.interactive.shadow.session import SessionOptions
from tests.interactive import drawing
from tests.waiting import eventually

BESIDE = SessionOptions(attached=False, shortest_pause=0.02, longest_pause=0.2, meeting_time=5.0)
SIZE = (320, 240)


def program(rate: float, boxes: int = 0, side: int = 0) -> list[str]:
    """Words that run the drawing program; `side`: of its color map."""
    return [sys.executable, str(Path(drawing.__file__)), str(rate), str(boxes), str(side)]


class SeenScreen:
    """Puts the pictures together, and confirms them if it is told to."""

    shows_video = False

    def __init__(self, remote: RemoteScreen, *, confirms: bool = True) -> None:
        self.remote, self.confirms = remote, confirms
        self.grid = Grid(0, 0)
        self.pixels = bytearray()
        self.pictures: list[ScreenPicture] = []
        self.begun = 0
        self.control_state: tuple[bool, bool, int] | None = None
        self.reasons: list[str] = []
        self.without_video = ""
        self.changed: Callable[[], None] = lambda: None
        remote.follow(self)

    def begin(self, grid: Grid, without_video: str) -> None:
        self.without_video = without_video
        self.grid, self.pixels = grid, bytearray(grid.width * grid.height * PIXEL)
        self.begun += 1

    def show(self, picture: ScreenPicture) -> None:
        for index, content in picture.tiles:
            left, top, width, height = self.grid.box(index)
            tile = bytearray(width * height * PIXEL)
            for color in range(PLANES):
                tile[color::PIXEL] = content[color * width * height : (color + 1) * width * height]
            for row in range(height):
                start, size = ((top + row) * self.grid.width + left) * PIXEL, width * PIXEL
                self.pixels[start : start + size] = tile[row * size : (row + 1) * size]
        self.pictures.append(picture)
        if self.confirms:
            self.remote.shown(picture.number)
        self.changed()

    def control(self, *, mine: bool, taken: bool, viewers: int) -> None:
        self.control_state = (mine, taken, viewers)

    def refuse(self, reason: str) -> None:
        self.reasons.append(reason)

    def color(self, x: int, y: int) -> int:
        """Of a pixel; -1 while there is no picture."""
        if not self.pictures:
            return -1
        start = (y * self.grid.width + x) * PIXEL
        return int.from_bytes(self.pixels[start : start + 3], "little")

    def number(self, square: int) -> int:
        """The number that the drawing program wrote into a square."""
        return self.color(square * drawing.SIDE + 5, 5)

    @property
    def counter(self) -> int:
        """The counter out of its bits, of pictures that are exact or not."""
        row = drawing.SIDE + drawing.BIT_SIDE // 2
        colors = [
            self.color(bit * drawing.BIT_SIDE + drawing.BIT_SIDE // 2, row) for bit in range(drawing.BITS)
        ]
        return sum((color & 0xFF > 0x80) << bit for bit, color in enumerate(colors))

    async def shows(self, square: int, number: int) -> None:
        """Wait until a square holds a number."""
        await eventually(lambda: self.number(square) == number, what=lambda: hex(self.number(square)))

    async def takes_input(self) -> None:
        """Take mouse and keyboard, and wait until the agent says so."""
        self.remote.take_input()
        await eventually(lambda: self.control_state is not None and self.control_state[0])

    def tap(self, symbol: int) -> None:
        """Press and release a key."""
        self.remote.key(symbol, down=True)
        self.remote.key(symbol, down=False)
