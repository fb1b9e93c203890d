"""Pictures of a job's screen as agent and desk exchange them: what changed, as video or as exact tiles.

A picture is one or more OUTPUT frames with the codec as their stream and the number of the picture as their
offset; a desk confirms with HEARD what it has shown, and no more than `IN_FLIGHT` pictures are unconfirmed.
Each part begins with a head: whether it is the last one, how many tiles follow, and milliseconds from the
capture of an earlier picture to the word that it was shown. A tile is its index, its size, and its planes
(all of its blue, then green, then red) by zlib. Parts of video, which come before tiles, are together a bit
for each tile of the screen, set if it is to be taken out of the frame, and that frame, by VP9. Nothing but
the standard library is imported, because agents use it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

TILES, VIDEO = 1, 2
"""The codecs of parts: tiles that changed, lossless; a frame of video."""
EXACT, VP9 = "tiles", "vp9"
"""What desk and agent agree on: tiles alone, or frames of VP9 and tiles."""
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
    video: bytes = b""
    """A frame to be decoded first, if it is not empty."""
    moved: tuple[int, ...] = ()
    """Indexes of tiles that are taken out of that frame."""


@dataclass(frozen=True, slots=True)
class PackedPicture:
    """A picture as an agent made it."""

    number: int
    tiles: Sequence[tuple[int, bytes]]
    """Index and packed planes."""
    frame: bytes = b""
    """Of video, if there is one."""
    moved: Sequence[int] = ()
    """Indexes of the tiles that are to be taken out of the frame."""

    def parts(self, grid: Grid, delay: int) -> Iterator[tuple[int, bytes]]:
        """Codec and content of each part."""
        delay = min(delay, _MOST_DELAY)
        if self.frame:
            content = _bits(grid, self.moved) + self.frame
            starts = range(0, len(content), _PART)
            for start in starts:
                last = start == starts[-1] and not self.tiles
                yield VIDEO, _HEAD.pack(last, 0, delay if last else 0) + content[start : start + _PART]
            if not self.tiles:
                return
        part: list[bytes] = []
        size = count = 0
        for index, planes in self.tiles:
            if size > _PART:
                yield TILES, _HEAD.pack(False, count, 0) + b"".join(part)
                part, size, count = [], 0, 0
            part += (_TILE.pack(index, len(planes)), planes)
            size += len(planes)
            count += 1
        yield TILES, _HEAD.pack(True, count, delay) + b"".join(part)

    @property
    def size(self) -> int:
        """Bytes of what is packed."""
        return len(self.frame) + sum(len(planes) for _, planes in self.tiles)


def _bits(grid: Grid, indexes: Iterable[int]) -> bytes:
    return sum(1 << index for index in set(indexes)).to_bytes(_bits_size(grid), "little")


def _bits_size(grid: Grid) -> int:
    return -(-grid.count // 8)


def read_part(data: bytes) -> PicturePart:
    """A part of a picture that has tiles; raises BadPicture."""
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

    def __init__(self, grid: Grid, *, video: bool = False) -> None:
        """`video`: whether frames of it were agreed on."""
        self._grid, self._codecs = grid, (TILES, VIDEO) if video else (TILES,)
        self._most_video = grid.width * grid.height * PLANES
        self._number = 0
        self._tiles: dict[int, bytes] = {}
        self._video = bytearray()
        self._size = 0
        self._open = False
        self._unshown: list[int] = []

    def add(self, codec: int, number: int, data: bytes) -> ScreenPicture | None:
        """The picture that is complete with this part; raises BadPicture."""
        if codec not in self._codecs:
            raise BadPicture(f"its codec {codec} is unknown")
        if number <= self._number if not self._open else number != self._number:
            raise BadPicture("pictures are out of order")
        if len(self._unshown) >= IN_FLIGHT:
            raise BadPicture("more pictures arrive than were asked for")
        last, delay = self._add_tiles(data) if codec == TILES else self._add_video(data)
        self._number, self._open = number, not last
        self._size += len(data)
        return self._complete(delay) if last else None

    def shown(self, number: int) -> None:
        """All pictures up to this one are shown: others may come."""
        self._unshown = [one for one in self._unshown if one > number]

    def _add_tiles(self, data: bytes) -> tuple[bool, int]:
        part = read_part(data)
        if not part.tiles and not part.last:
            raise BadPicture("a part is empty")
        for index, content in part.tiles:
            if index in self._tiles or index >= self._grid.count:
                raise BadPicture("a tile is not on the screen, or there twice")
            self._tiles[index] = self._planes(index, content)
        return part.last, part.delay

    def _add_video(self, data: bytes) -> tuple[bool, int]:
        if len(data) <= _HEAD.size:
            raise BadPicture("a part is empty")
        last, count, delay = _HEAD.unpack_from(data)
        self._video += data[_HEAD.size :]
        if count or self._tiles:
            raise BadPicture("a part of video has tiles, or follows them")
        if len(self._video) > self._most_video:
            raise BadPicture("a frame is larger than the screen")
        return last, delay

    def _complete(self, delay: int) -> ScreenPicture:
        bits = _bits_size(self._grid)
        if self._video and len(self._video) <= bits:
            raise BadPicture("a frame is cut off")
        marked = int.from_bytes(self._video[:bits], "little")
        if marked >> self._grid.count:
            raise BadPicture("a tile is not on the screen, or there twice")
        moved = tuple(index for index in range(self._grid.count) if marked >> index & 1)
        tiles, frame = tuple(self._tiles.items()), bytes(self._video[bits:])
        picture = ScreenPicture(self._number, tiles, delay, self._size, frame, moved)
        self._tiles, self._size = {}, 0
        self._video.clear()
        self._unshown.append(self._number)
        return picture

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
