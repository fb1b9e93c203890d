"""Pictures of a screen from an agent that nobody trusts: what is none is not shown, and costs little."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import asyncssh
import pytest

from broker_core.interactive.channel.frames import SCREEN_PATH, heard, output, word
from broker_core.interactive.channel.pictures import (
    TILES,
    BadPicture,
    Grid,
    PackedPicture,
    PictureReader,
)
from broker_core.interactive.shadow.screen import RemoteScreen
from tests.interactive.screens import SeenScreen
from tests.waiting import eventually

GRID = Grid(100, 80)
FIRST, LOW = bytes(64 * 64 * 3), bytes(36 * 16 * 3)
SCREEN = word("screen", width=100, height=80, tile=64, codec="tiles")


def part(*tiles: tuple[int, bytes], last: bool = True) -> bytes:
    """One part of a picture, with tiles as they are given."""
    found = [struct.pack("!HI", index, len(content)) + content for index, content in tiles]
    return struct.pack("!?HI", last, len(tiles), 0) + b"".join(found)


def test_tiles_cover_the_screen_to_its_edges() -> None:
    assert (GRID.columns, GRID.count) == (2, 4)
    assert [GRID.box(index) for index in range(4)] == [
        (0, 0, 64, 64), (64, 0, 36, 64), (0, 64, 64, 16), (64, 64, 36, 16)
    ]  # fmt: skip


def test_a_picture_in_parts_is_put_together() -> None:
    grid = Grid(640, 640)
    noise = [(index, bytes([index]) * 64 * 64 * 3) for index in range(100)]
    packed = PackedPicture(3, [(index, zlib.compress(one, 0)) for index, one in noise])
    parts = [content for _, content in packed.parts(grid, 7)]
    assert len(parts) > 10
    assert max(map(len, parts)) < 100 * 1024
    reader = PictureReader(grid)
    found = [reader.add(TILES, 3, one) for one in parts]
    assert found[:-1] == [None] * (len(parts) - 1)
    assert found[-1] is not None
    assert (found[-1].number, found[-1].delay, list(found[-1].tiles)) == (3, 7, noise)
    assert found[-1].size == sum(map(len, parts))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "cut off"),
        (part((0, zlib.compress(FIRST)))[:-1], "another size"),
        (part((0, zlib.compress(FIRST))) + b"x", "another size"),
        (part((4, zlib.compress(FIRST))), "not on the screen"),
        (part((0, zlib.compress(FIRST)), (0, zlib.compress(FIRST))), "there twice"),
        (part((3, zlib.compress(FIRST))), "another size"),
        (part((0, zlib.compress(LOW))), "another size"),
        (part((0, zlib.compress(FIRST)[:-5])), "another size"),
        (part((0, zlib.compress(FIRST) + b"more")), "another size"),
        (part((0, zlib.compress(bytes(1 << 26)))), "another size"),
        (part((0, b"no zlib")), "unpacked"),
        (part(last=False), "empty"),
        (struct.pack("!?HI", True, 9, 0), "cut off"),
    ],
)
def test_what_is_no_picture_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(BadPicture, match=why):
        PictureReader(GRID).add(TILES, 1, data)


def test_pictures_come_in_order_of_a_known_codec_and_no_more_than_asked_for() -> None:
    reader = PictureReader(GRID)
    whole = part((0, zlib.compress(FIRST)))
    with pytest.raises(BadPicture, match="codec 2"):
        reader.add(2, 1, whole)
    assert reader.add(TILES, 5, whole) is not None
    with pytest.raises(BadPicture, match="out of order"):
        reader.add(TILES, 5, whole)
    assert reader.add(TILES, 6, part((0, zlib.compress(FIRST)), last=False)) is None
    with pytest.raises(BadPicture, match="out of order"):
        reader.add(TILES, 7, part((3, zlib.compress(LOW))))
    assert reader.add(TILES, 6, part((3, zlib.compress(LOW)))) is not None
    with pytest.raises(BadPicture, match="more pictures arrive"):
        reader.add(TILES, 7, whole)
    reader.shown(5)
    assert reader.add(TILES, 7, whole) is not None


class Hostile(asyncssh.SSHUNIXSession[bytes]):
    """Sends what it was given as soon as it is asked for the screen."""

    def __init__(self, said: Sequence[bytes]) -> None:
        self._said = said

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        self._channel = channel

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        for one in self._said:
            if not self._channel.is_closing():
                self._channel.write(one)


def endless() -> list[bytes]:
    """Pictures that nobody asked for."""
    return [output(TILES, number, part((0, zlib.compress(FIRST)))) for number in range(1, 50)]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([b"GET / HTTP/1.1\r\n\r\n"], "no frame"),
        ([b"o\xff\xff\xff\xff"], "no frame"),
        ([word("screen", width=1 << 40, height=80, tile=64, codec="tiles")], "impossible size"),
        ([word("screen", width=-5, height=80, tile=64, codec="tiles")], "impossible size"),
        ([word("screen", width="wide", height=80, tile=64, codec="tiles")], "not understood"),
        ([word("screen", width=100, height=80, tile=64, codec="h265")], "codec is unknown"),
        ([word("screen", width=100, height=80, tile=1, codec="tiles")], "codec is unknown"),
        ([word("screen")], "not understood"),
        ([SCREEN, SCREEN], "two sizes"),
        ([output(TILES, 1, part())], "no size"),
        ([SCREEN, output(9, 1, part())], "codec 9"),
        ([SCREEN, heard(TILES, 1)], "not at the node"),
        ([SCREEN, word("control", mine=True)], "not understood"),
        ([SCREEN, *endless()], "more pictures arrive"),
        ([SCREEN, output(TILES, 1, part((0, zlib.compress(bytes(1 << 24)))))], "another size"),
    ],
)
async def test_a_hostile_agent_is_listened_to_no_longer(said: Sequence[bytes], why: str) -> None:
    class Door(asyncssh.SSHServer):
        def begin_auth(self, username: str) -> bool:
            return False

        def connection_made(self, connection: asyncssh.SSHServerConnection) -> None:
            self._connection = connection

        def unix_connection_requested(self, dest_path: str) -> object:
            assert dest_path == SCREEN_PATH
            return self._connection.create_unix_channel(encoding=None), Hostile(said)

    key = asyncssh.generate_private_key("ssh-ed25519")
    async with await asyncssh.listen("127.0.0.1", 0, server_factory=Door, server_host_keys=[key]) as server:
        client = asyncssh.connect("127.0.0.1", server.get_port(), known_hosts=None, config=None)
        async with client as connection:
            remote = RemoteScreen()
            seen = SeenScreen(remote, confirms=False)
            remote.connected(connection)
            await eventually(lambda: seen.reasons)
            assert why in seen.reasons[0]
            assert len(seen.reasons) == 1
            assert len(seen.pictures) <= 2
            remote.take_input()  # nothing is sent there any more
            await remote.close()
