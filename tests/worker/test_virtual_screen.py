"""The virtual screen of a node: what it captures, its keys, and what is said where it cannot be had."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from broker_core.worker.sub_channels.screen import virtual_screen
from broker_core.worker.sub_channels.screen.capture import ScreenCapture
from broker_core.worker.sub_channels.screen.key_map import SHIFT, Keyboard, KeyMap, UnknownKey
from broker_core.worker.sub_channels.screen.virtual_screen import NoScreen, VirtualScreen


class PaintedScreen:
    """Pixels that a test sets; rows are longer than what is shown of them."""

    width, height, stride = 100, 80, 448

    def __init__(self) -> None:
        self.content = bytearray(self.stride * self.height)

    def pixels(self) -> bytes:
        return bytes(self.content)

    def paint(self, x: int, y: int) -> None:
        start = y * self.stride + x * 4
        self.content[start : start + 4] = b"\x01\x02\x03\xff"


def test_tiles_that_changed_are_found_and_packed_once() -> None:
    screen = PaintedScreen()
    capture = ScreenCapture(screen)
    capture.take(0.0)
    first = capture.number
    assert capture.since(0) == [0, 1, 2, 3]
    capture.take(0.0)
    assert capture.number == first
    assert capture.since(first) == []
    screen.paint(99, 79)
    screen.paint(3, 63)
    capture.take(0.0)
    assert capture.since(first) == [0, 3]
    low = zlib.decompress(capture.packed(3))
    assert len(low) == 36 * 16 * 3
    assert low[36 * 16 - 1 :: 36 * 16] == b"\x01\x02\x03"
    assert sum(low) == 1 + 2 + 3
    assert capture.packed(3) is capture.packed(3)
    screen.paint(70, 0)
    capture.take(0.0)
    assert capture.since(capture.number - 1) == [1]
    assert capture.since(first) == [0, 1, 3]


def keyboard() -> Keyboard:
    """Keys 10 a/A, 11 1/!, 12 Shift, 13 Return; 14 and 15 are free."""
    rows = [(0x61, 0x41), (0x31, 0x21), (SHIFT, 0), (0xFF0D, 0), (0, 0), (0, 0)]
    return Keyboard(KeyMap(10, 2, [symbol for row in rows for symbol in row]))


def test_symbols_become_keys_with_shift_where_it_is_needed() -> None:
    keys = keyboard()
    assert keys.press(0x61) == [(10, True)]
    assert keys.press(0x61) == [(10, False), (10, True)]
    assert keys.release(0x61) == [(10, False)]
    assert keys.release(0x61) == []
    assert keys.press(0x41) == [(12, True), (10, True), (12, False)]
    assert keys.press(SHIFT) == [(12, True)]
    assert keys.press(0x21) == [(11, True)]
    keys.release(0x21)
    assert keys.press(0x31) == [(12, False), (11, True), (12, True)]
    assert keys.press(0xFF0D) == [(13, True)]
    assert sorted(keys.release_all()) == [(10, False), (11, False), (12, False), (13, False)]
    assert keys.release_all() == []


def test_symbols_that_no_key_has_are_given_to_free_keys_in_turn() -> None:
    keys = keyboard()
    assert keys.press(0xE4) == [(14, True)]
    assert keys.assigned == (14, 0xE4)
    keys.release(0xE4)
    assert keys.press(0xE4) == [(14, True)]
    assert keys.assigned is None
    assert keys.press(0x010020AC) == [(15, True)]
    assert keys.press(0xF6) == [(14, True)]
    assert keys.press(0xE4) == [(15, True)]
    for symbol in (0, 0x1F, 0x10000, 0x01110000, -1):
        with pytest.raises(UnknownKey, match="no such key"):
            keys.press(symbol)
    with pytest.raises(UnknownKey, match="no free key"):
        Keyboard(KeyMap(10, 1, [0x61])).press(0x62)


def test_a_node_without_the_server_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtual_screen, "_PATH", str(tmp_path))
    with pytest.raises(NoScreen, match=r"This node has no Xvfb, so .* Ask those who look after it"):
        VirtualScreen((320, 240), tmp_path, str(tmp_path))


def test_a_server_that_says_nothing_is_ended_after_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Xvfb").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "Xvfb").chmod(0o755)
    monkeypatch.setattr(virtual_screen, "START_TIME", 0.1)
    with pytest.raises(NoScreen, match=r"does not start on this node \(it says nothing\)"):
        VirtualScreen((320, 240), tmp_path, str(tmp_path))


@pytest.mark.display
def test_a_server_is_read_and_ended(tmp_path: Path) -> None:
    screen = VirtualScreen((320, 240), tmp_path, os.environ["PATH"])
    try:
        assert len(screen.pixels()) == screen.stride * 240
        assert screen.variables["DISPLAY"] == f":{screen.number}"
        assert Path(screen.variables["XAUTHORITY"]).stat().st_mode & 0o077 == 0
    finally:
        screen.input.close()
        screen.close()
    assert not Path(f"/tmp/.X11-unix/X{screen.number}").exists()
