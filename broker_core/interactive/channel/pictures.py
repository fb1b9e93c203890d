"""Pictures of a job's screen as agent and desk exchange them: tiles that changed, lossless.

A picture is one or more OUTPUT frames with the codec as their stream and the number of the picture as their
offset; a desk confirms with HEARD what it has shown, and no more than `IN_FLIGHT` pictures are unconfirmed.
Each part begins with a head: whether it is the last one, how many tiles follow, and milliseconds from the
capture of an earlier picture to the word that it was shown. A tile is its index, its size, and its planes
(all of its blue, then green, then red) by zlib. Nothing but the standard library is imported, because agents
use it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

TILES = 1
"""The codec: tiles that changed, lossless."""
CODECS = ("tiles",)
"""Names of the codecs that a desk of this version shows."""
TILE = 64
"""Pixels of a side of a tile; those at the right and lower edge may be smaller."""
PIXEL, PLANES = 4, 3
"""Bytes of a pixel on the screen, of which the last one means nothing, and colors of one on its way."""
LEAST_SIDE, MOST_SIDE = 64, 4096
"""Pixels of a side of the screen."""
IN_FLIGHT = 2
"""Pictures that may be on their way: what is seen stays young on a slow network."""
_HEAD = struct.Struct("!?HI")
_TILE = struct.Struct("!HI")
_MOST_DELAY = (1 << 32) - 1
_PART = 60 * 1024


class BadPicture(ValueError):
    """What arrived is no picture of the screen; says why."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The tiles of a screen, row by row."""

    width: int
    height: int

    @property
    def columns(self) -> int:
        """Tiles beside each other."""
        return -(-self.width // TILE)

    @property
    def count(self) -> int:
        """All tiles."""
        return self.columns * -(-self.height // TILE)

    def box(self, index: int) -> tuple[int, int, int, int]:
        """Left, top, width and height of a tile, in pixels."""
        left, top = index % self.columns * TILE, index // self.columns * TILE
        return left, top, min(TILE, self.width - left), min(TILE, self.height - top)


@dataclass(frozen=True, slots=True)
class PicturePart:
    """One part of a picture as it arrived."""

    last: bool
    delay: int
    tiles: tuple[tuple[int, bytes], ...]
    """Index and packed planes."""


@dataclass(frozen=True, slots=True)
class ScreenPicture:
    """What changed on the screen since the picture before."""

    number: int
    tiles: tuple[tuple[int, bytes], ...]
    """Index and planes."""
    delay: int
    """Milliseconds from the capture of an earlier picture until it was confirmed as shown; 0: unknown."""
    size: int
    """Bytes that came over the network."""


def packed_parts(tiles: Iterable[tuple[int, bytes]], delay: int) -> Iterator[bytes]:
    """The parts of a picture, of index and packed planes of its tiles."""
    part: list[bytes] = []
    size = count = 0
    for index, planes in tiles:
        if size > _PART:
            yield _HEAD.pack(False, count, 0) + b"".join(part)
            part, size, count = [], 0, 0
        part += (_TILE.pack(index, len(planes)), planes)
        size += len(planes)
        count += 1
    yield _HEAD.pack(True, count, min(delay, _MOST_DELAY)) + b"".join(part)


def read_part(data: bytes) -> PicturePart:
    """A part of a picture; raises BadPicture."""
    try:
        last, count, delay = _HEAD.unpack_from(data)
        position, tiles = _HEAD.size, []
        for _ in range(count):
            index, size = _TILE.unpack_from(data, position)
            position += _TILE.size
            tiles.append((index, data[position : position + size]))
            position += size
    except struct.error as error:
        raise BadPicture("a part is cut off") from error
    if position != len(data):
        raise BadPicture("a part has another size than it says")
    return PicturePart(last, delay, tuple(tiles))


class PictureReader:
    """Puts the parts of pictures together, for a desk that trusts nothing that arrives."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._number = 0
        self._tiles: dict[int, bytes] = {}
        self._size = 0
        self._open = False
        self._unshown: list[int] = []

    def add(self, codec: int, number: int, data: bytes) -> ScreenPicture | None:
        """The picture that is complete with this part; raises BadPicture."""
        if codec != TILES:
            raise BadPicture(f"its codec {codec} is unknown")
        if number <= self._number if not self._open else number != self._number:
            raise BadPicture("pictures are out of order")
        if len(self._unshown) >= IN_FLIGHT:
            raise BadPicture("more pictures arrive than were asked for")
        part = read_part(data)
        if not part.tiles and not part.last:
            raise BadPicture("a part is empty")
        self._number, self._open = number, not part.last
        self._size += len(data)
        for index, content in part.tiles:
            if index in self._tiles or index >= self._grid.count:
                raise BadPicture("a tile is not on the screen, or there twice")
            self._tiles[index] = self._planes(index, content)
        if not part.last:
            return None
        picture = ScreenPicture(number, tuple(self._tiles.items()), part.delay, self._size)
        self._tiles, self._size = {}, 0
        self._unshown.append(number)
        return picture

    def shown(self, number: int) -> None:
        """All pictures up to this one are shown: others may come."""
        self._unshown = [one for one in self._unshown if one > number]

    def _planes(self, index: int, content: bytes) -> bytes:
        _, _, width, height = self._grid.box(index)
        size = width * height * PLANES
        unpacking = zlib.decompressobj()
        try:
            planes = unpacking.decompress(content, size)
            planes += unpacking.decompress(unpacking.unconsumed_tail, 1)
        except zlib.error as error:
            raise BadPicture("a tile cannot be unpacked") from error
        if len(planes) != size or not unpacking.eof or unpacking.unused_data:
            raise BadPicture("a tile has another size than the screen's")
        return planes
