"""Keys, figures and pixels of a display."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from app.inspector.view.display_canvas import DisplayCanvas
from app.inspector.view.display_figures import DisplayFigures
from app.inspector.view.display_keys import symbol_of
from app.inspector.view.display_pixels import DisplayPixels
from broker_core.interactive.channel.pictures import Grid, ScreenPicture

K = Qt.Key


@pytest.mark.parametrize(
    ("key", "text", "shift", "symbol"),
    [
        (K.Key_A, "a", False, 0x61),
        (K.Key_A, "A", True, 0x41),
        (K.Key_Adiaeresis, "ä", False, 0xE4),
        (K.Key_unknown, "€", False, 0x010020AC),
        (K.Key_C, "\x03", False, ord("c")),
        (K.Key_C, "\x03", True, ord("C")),
        (K.Key_Return, "\r", False, 0xFF0D),
        (K.Key_Backtab, "", True, 0xFF09),
        (K.Key_F12, "", False, 0xFFC9),
        (K.Key_Space, " ", False, 0x20),
        (K.Key_AltGr, "", False, None),
        (K.Key_CapsLock, "", False, None),
        (0x7FFFFFF0, "", False, None),
    ],
)
def test_keys_are_symbols_of_x11(key: int, text: str, shift: bool, symbol: int | None) -> None:
    assert symbol_of(key, text, shift=shift) == symbol


def test_figures_are_those_of_the_last_moments() -> None:
    now = [100.0]
    figures = DisplayFigures(lambda: now[0])
    assert figures.text() == "still"
    for _ in range(60):
        now[0] += 1 / 30
        figures.add(12_500, 14, "video")
    assert figures.text() == "30 pictures/s · 14 ms · 3.0 Mbit/s · video"
    now[0] += 3
    assert figures.text() == "still · 14 ms · video"
    figures.add(125, 0, "exact")
    assert figures.text() == "still · 14 ms · 0.0 Mbit/s · exact"
    figures.clear()
    assert figures.text() == "still"


def test_tiles_become_an_opaque_image() -> None:
    pixels = DisplayPixels(Grid(100, 80))
    image = pixels.put(ScreenPicture(1, ((3, b"\1" * 576 + b"\2" * 576 + b"\3" * 576),), 0, 10))
    assert (image.width(), image.height()) == (100, 80)
    assert image.pixel(99, 79) == 0xFF030201
    assert image.pixel(63, 79) == image.pixel(99, 63) == 0xFF000000
    before = image.copy()
    pixels.put(ScreenPicture(2, ((0, bytes(64 * 64 * 3)), (3, bytes(36 * 16 * 3))), 0, 10))
    assert image == before


def test_a_picture_is_as_large_as_there_is_room_for(qtbot: QtBot) -> None:
    canvas = DisplayCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(400, 400)
    canvas.capture(on=True)
    assert not canvas.captures, "there is no picture yet"
    image = QImage(200, 100, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    canvas.show_image(image)
    assert canvas.shown_at().getRect() == (100, 0, 200, 100)
    canvas.set_enlarged(on=True)
    assert canvas.shown_at().getRect() == (0, 100, 400, 200)
    canvas.resize(160, 400)
    canvas.set_enlarged(on=False)
    assert canvas.shown_at().getRect() == (0, 0, 160, 80)
    assert canvas.pixel_at(canvas.shown_at().bottomRight()).toTuple() == (199, 99)
    assert canvas.pixel_at(canvas.shown_at().center()).toTuple() == (100, 50)
