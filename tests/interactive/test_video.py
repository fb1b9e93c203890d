"""A program's screen as video: real X server, agent, relay and desks; narrow ways, cuts, hostile frames."""

from __future__ import annotations

import sys
import zlib

import pytest

from app.inspector.view.display_pixels import DisplayPixels
from broker_core.interactive.channel.pictures import (
    IN_FLIGHT,
    TILES,
    VIDEO,
    BadPicture,
    Grid,
    PackedPicture,
    PictureReader,
    ScreenPicture,
)
from broker_core.worker.sub_channels.screen.bit_rate import BitRate
from broker_core.worker.sub_channels.screen.video_encoder import VideoEncoder
from tests.interactive.drawing import BAR, GROUND, KEY
from tests.interactive.pair import Bench
from tests.interactive.screens import BESIDE, SeenScreen, program
from tests.interactive.video import DecodedScreen, frames, near
from tests.interactive.wire import Wire
from tests.waiting import eventually

SIZE = (640, 480)
SIDE = 380
"""Of the color map that moves."""
GRID = Grid(*SIZE)


async def moving(made: Bench, rate: float = 30) -> DecodedScreen:
    """A desk that sees a screen of which more changes than any network is given exactly."""
    await made.start_agent(program(rate, side=SIDE), screen=SIZE)
    seen = DecodedScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.frames > 3, what="video")
    return seen


@pytest.mark.display
async def test_what_changes_much_is_video_of_the_same_moment(made: Bench) -> None:
    seen = await moving(made)
    assert seen.without_video == ""
    counters: list[int] = []
    bars: list[bool] = []

    def changed() -> None:
        counters.append(seen.counter)
        bars.append(near(seen.color((seen.counter * 8 + 8) % SIZE[0], 85), BAR))

    seen.changed = changed
    await eventually(lambda: len(counters) >= 40)
    assert counters == sorted(counters)
    assert len(set(counters)) >= 25
    assert sum(bars) >= 30, "a picture is one moment: the bar is where the counter says"
    assert near(seen.color(300, 40), GROUND), "what is still is shown, too"
    assert seen.reasons == []
    assert max(len(one.video) for one in seen.pictures) < SIZE[0] * SIZE[1] * 3 // 10


@pytest.mark.display
async def test_what_is_still_is_exact_again_beside_what_moves(made: Bench) -> None:
    seen = await moving(made, 60)
    exactly = SeenScreen(made.desk(BESIDE).forwards.screen)
    await seen.takes_input()
    seen.tap(0x100ABCD)
    await exactly.shows(KEY, 0x00ABCD)
    frames_before = seen.frames
    await seen.shows(KEY, 0x00ABCD)
    assert seen.frames > frames_before, "video went on meanwhile"


@pytest.mark.display
async def test_a_screen_that_stops_is_exact_to_each_pixel(made: Bench) -> None:
    words = ["timeout", "--foreground", "3", *program(30, side=SIDE)]
    await made.start_agent(["/bin/sh", "-c", '"$@"; read line', "sh", *words], screen=SIZE)
    seen = DecodedScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.frames > 3, what="video")
    beside = SeenScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.color(300, 40) == 0, what="the end of its window")
    await eventually(lambda: seen.exact and beside.pixels and strip(seen) == strip(beside))


def strip(seen: SeenScreen) -> bytes:
    """The colors of all pixels."""
    return b"".join(bytes(seen.pixels[color::4]) for color in range(3))


@pytest.mark.display
async def test_a_still_screen_is_never_video(made: Bench) -> None:
    await made.start_agent(program(0), screen=SIZE)
    seen = DecodedScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.color(300, 40) == GROUND)
    await seen.takes_input()
    for key in b"abcdef":
        seen.tap(key)
        await seen.shows(KEY, key)
    assert seen.frames == 0
    assert seen.exact


@pytest.mark.display
async def test_a_narrow_way_gets_fewer_bits_and_pictures_that_are_not_old(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    seen = await moving(made)
    wide = max(len(one.video) for one in seen.pictures[-3:])
    wire.most_per_second = 100_000
    await eventually(lambda: len(seen.pictures[-1].video) < wide * 0.6, what="smaller frames")
    so_far = len(seen.pictures)
    await eventually(lambda: len(seen.pictures) >= so_far + 10)
    delays = sorted(one.delay for one in seen.pictures[-10:])
    assert delays[5] < 1500
    assert seen.reasons == []
    await wire.close()


@pytest.mark.display
async def test_a_cut_begins_video_anew_and_each_desk_has_its_own(made: Bench) -> None:
    wire = Wire(made.place)
    made.place = await wire.open()
    seen = await moving(made)
    slow = DecodedScreen(made.desk(BESIDE).forwards.screen, confirms=False)
    await eventually(lambda: len(slow.pictures) == IN_FLIGHT)
    wire.cut()
    await eventually(lambda: seen.begun == 2)
    before = seen.frames
    await eventually(lambda: seen.frames > before + 10)
    slow.confirms = True
    slow.remote.shown(slow.pictures[-1].number)
    await eventually(lambda: slow.frames > 10)
    assert seen.reasons == slow.reasons == []
    await wire.close()


@pytest.mark.display
async def test_where_no_video_is_made_tiles_come_and_the_desk_hears_why(made: Bench) -> None:
    script = (
        "import sys; import importlib.util as u; f = u.find_spec;"
        "u.find_spec = lambda n, *a: None if n == 'av' else f(n, *a);"
        "from runpy import run_module; sys.argv[1:2] = [];"
        "run_module('broker_core.worker.start', run_name='__main__')"
    )
    await made.start_agent(program(30, side=SIDE), screen=SIZE, program=(sys.executable, "-c", script, "-"))
    seen = DecodedScreen(made.desk(BESIDE).forwards.screen)
    await eventually(lambda: seen.color(300, 40) == GROUND)
    assert seen.without_video == "the node makes none: its Python has no package av"
    assert seen.frames == 0


def test_bits_become_fewer_while_pictures_wait_and_more_again_when_they_do_not() -> None:
    rate = BitRate(1024 * 768)
    first, now = rate.bits, 0.0
    for _ in range(100):
        rate.shown(0.03, now := now + 0.03)
    high = rate.bits
    assert first < high <= 20 * 1024 * 768
    assert rate.video_bits == 10 * 1024 * 768
    for _ in range(2):
        rate.shown(0.5, now := now + 0.4)
    assert rate.bits == pytest.approx(high * 0.7, abs=2), "it waits to see what that does"
    for _ in range(100):
        rate.shown(0.5, now := now + 0.5)
    assert rate.bits == round(0.3 * 1024 * 768)
    for _ in range(1000):
        rate.shown(0.03, now := now + 0.03)
    assert rate.bits == 20 * 1024 * 768


def picture(video: bytes, moved: tuple[int, ...] = (0,)) -> ScreenPicture:
    return ScreenPicture(1, (), 0, len(video), video, moved)


def test_frames_are_shown_where_they_are_marked() -> None:
    pixels = DisplayPixels(GRID)
    (frame,) = frames(*SIZE)
    image = pixels.put(picture(frame, (1,)))
    assert image.pixel(10, 10) == 0xFF000000
    assert image.copy(64, 0, 64, 64) != image.copy(0, 0, 64, 64)
    assert not pixels.exact
    pixels.put(ScreenPicture(2, ((1, bytes(64 * 64 * 3)),), 0, 1))
    assert pixels.exact
    assert image.copy(64, 0, 64, 64) != pixels.put(ScreenPicture(3, (), 0, 1)).copy(64, 0, 64, 64)


@pytest.mark.parametrize("size", [(64, 64), (720, 720), (333, 211), (900, 700), (4096, 64), (1920, 1080)])
def test_a_screen_of_any_size_is_seen(size: tuple[int, int]) -> None:
    width, height = size
    encoder, pixels = VideoEncoder(width, height, 2_000_000), DisplayPixels(Grid(width, height))
    for number in range(5):
        color = bytes((0, 50 * number, 200, 0))
        frame = encoder.encode(color * width * height, width * 4, number * 33, 2_000_000)
        every = tuple(range(Grid(width, height).count))
        image = pixels.put(ScreenPicture(number, (), 0, len(frame), frame, every))
        for x, y in ((0, 0), (width - 1, 0), (width // 2, height - 1), (width - 1, height - 1)):
            assert near(image.pixel(x, y) & 0xFFFFFF, 0xC80000 | 50 * number << 8)


@pytest.mark.parametrize(
    "video",
    [
        b"\0",
        b"\xff" * 1000,
        frames(*SIZE)[0][:40],
        frames(64, 64)[0],
        frames(4096, 2160)[0],
        frames(*SIZE, codec="libvpx")[0],
    ],
    ids=["nothing", "ones", "cut off", "small", "large", "VP8"],
)
def test_what_is_no_frame_of_the_screen_is_refused(video: bytes) -> None:
    with pytest.raises(BadPicture, match="frame of video"):
        DisplayPixels(GRID).put(picture(video))


def test_a_frame_of_another_size_amid_others_is_refused() -> None:
    pixels = DisplayPixels(GRID)
    for frame in frames(*SIZE, count=3):
        pixels.put(picture(frame))
    with pytest.raises(BadPicture, match="frame of video"):
        pixels.put(picture(frames(1280, 960)[0]))


def parts(*pictures: PackedPicture) -> list[tuple[int, int, bytes]]:
    return [(codec, one.number, part) for one in pictures for codec, part in one.parts(GRID, 5)]


def test_video_and_tiles_in_one_picture_are_put_together() -> None:
    tile, frame = zlib.compress(bytes(64 * 64 * 3)), bytes(range(256)) * 1000
    reader = PictureReader(GRID, video=True)
    packed = PackedPicture(1, [(3, tile)], frame, [0, 7, GRID.count - 1])
    found = [reader.add(*part) for part in parts(packed)]
    assert found[:-1] == [None] * (len(found) - 1)
    whole = found[-1]
    assert whole is not None
    assert (whole.video, whole.moved) == (frame, (0, 7, GRID.count - 1))
    assert [index for index, _ in whole.tiles] == [3]
    assert whole.delay == 5
    alone = reader.add(*parts(PackedPicture(2, [], b"frame", [1]))[0])
    assert alone is not None
    assert (alone.video, alone.moved, alone.tiles, alone.delay) == (b"frame", (1,), (), 5)


@pytest.mark.parametrize(
    ("codec", "part", "why"),
    [
        (VIDEO, b"\1" + bytes(6), "empty"),
        (VIDEO, b"\1\0\3" + bytes(40), "has tiles"),
        (VIDEO, b"\1" + bytes(6) + bytes(5), "cut off"),
        (VIDEO, b"\1" + bytes(6) + bytes(SIZE[0] * SIZE[1] * 3 + 1), "larger than the screen"),
        (3, b"\1" + bytes(60), "unknown"),
    ],
)
def test_parts_of_video_are_bounded(codec: int, part: bytes, why: str) -> None:
    with pytest.raises(BadPicture, match=why):
        PictureReader(GRID, video=True).add(codec, 1, part)


def test_a_frame_is_for_tiles_of_the_screen() -> None:
    with pytest.raises(BadPicture, match="not on the screen"):
        PictureReader(Grid(100, 80), video=True).add(VIDEO, 1, b"\1" + bytes(6) + b"\x10" + bytes(40))


def test_endless_parts_of_video_are_refused() -> None:
    reader = PictureReader(GRID, video=True)
    part = b"\0" + bytes(6) + bytes(50_000)
    for _ in range(SIZE[0] * SIZE[1] * 3 // 50_000):
        assert reader.add(VIDEO, 1, part) is None
    with pytest.raises(BadPicture, match="larger than the screen"):
        reader.add(VIDEO, 1, part)


def test_video_that_was_not_agreed_on_and_video_after_tiles_are_refused() -> None:
    (part,) = parts(PackedPicture(1, [], b"frame", [1]))
    with pytest.raises(BadPicture, match="unknown"):
        PictureReader(GRID).add(*part)
    reader = PictureReader(GRID, video=True)
    tile = (1).to_bytes(2, "big") + len(zlib.compress(bytes(64 * 64 * 3))).to_bytes(4, "big")
    head = b"\0" + (1).to_bytes(2, "big") + bytes(4)
    assert reader.add(TILES, 1, head + tile + zlib.compress(bytes(64 * 64 * 3))) is None
    with pytest.raises(BadPicture, match="follows them"):
        reader.add(*part)
