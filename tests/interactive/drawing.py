"""A program that draws on its display: a counter, a bar that moves, and what came from mouse and keyboard.

`drawing.py RATE [BOXES] [MAP]`: pictures a second; 0: a still one. Each square of 64 pixels along the upper
edge holds a number as its color: the counter, the symbol of the last key pressed, the last button with its
pixel, and the symbol of the last key released; modifiers do not count. Below them the counter stands again, a
square for each bit, black or white, so that it can be read out of video. BOXES of changing colors make a
picture that is hard to carry; MAP is the side of a square of waves in colors, as programs that compute draw
them.
"""

from __future__ import annotations

import select
import sys
import time

import numpy as np
from Xlib import X
from Xlib.display import Display

SIDE = 64
COUNTER, KEY, BUTTON, RELEASED = range(4)
BITS, BIT_SIDE = 16, 16
ROWS = 60
"""Of an image in one request: those of X11 are short."""
GROUND, BAR = 0x204060, 0xE0A030
_SHIFT = 1
_MODIFIERS = range(0xFFE1, 0xFFEF)


class Drawing:
    def __init__(self, boxes: int, side: int) -> None:
        self.boxes, self.map = boxes, waves(side) if side else []
        self.display = Display()
        screen = self.display.screen()
        size = screen.width_in_pixels, screen.height_in_pixels
        masks = X.KeyPressMask | X.KeyReleaseMask | X.ButtonPressMask | X.ExposureMask
        self.window = screen.root.create_window(
            0, 0, *size, 0, screen.root_depth, X.InputOutput, X.CopyFromParent, background_pixel=GROUND,
            override_redirect=True, event_mask=masks,
        )  # fmt: skip
        self.width, self.height = size
        self.context = self.window.create_gc()
        self.counter = 0
        self.window.map()

    def square(self, number: int, color: int) -> None:
        self.box(number * SIDE, 0, SIDE, SIDE, color)

    def box(self, left: int, top: int, width: int, height: int, color: int) -> None:
        self.context.change(foreground=color & 0xFFFFFF)
        self.window.fill_rectangle(self.context, left, top, width, height)

    def tick(self) -> None:
        self.box(self.counter * 8 % self.width, 80, 16, self.height - 80, GROUND)
        self.counter += 1
        self.box(self.counter * 8 % self.width, 80, 16, self.height - 80, BAR)
        for box in range(self.boxes):
            place = box * 7919 + self.counter * 31
            left, top = place * 53 % (self.width - 60), 90 + place * 97 % (self.height - 130)
            self.box(left, top, 60, 40, place * 2654435761)
        if self.map:
            self.waves(self.map[self.counter % len(self.map)])
        for bit in range(BITS):
            self.box(bit * BIT_SIDE, SIDE, BIT_SIDE, BIT_SIDE, 0xFFFFFF if self.counter >> bit & 1 else 0)
        self.square(COUNTER, self.counter)

    def waves(self, rows: np.ndarray) -> None:
        side = rows.shape[1]
        for top in range(0, side, ROWS):
            part = rows[top : top + ROWS]
            self.window.put_image(
                self.context, 200, 100 + top, side, len(part), X.ZPixmap, 24, 0, part.tobytes()
            )

    def react(self) -> None:
        while self.display.pending_events():
            event = self.display.next_event()
            if event.type == X.MappingNotify:
                self.display.refresh_keyboard_mapping(event)
            elif event.type in (X.KeyPress, X.KeyRelease):
                shifted = event.state & X.ShiftMask
                symbol = self.display.keycode_to_keysym(event.detail, _SHIFT if shifted else 0)
                if symbol not in _MODIFIERS:
                    self.square(KEY if event.type == X.KeyPress else RELEASED, symbol)
            elif event.type == X.ButtonPress:
                self.square(BUTTON, event.detail << 20 | event.event_x << 10 | event.event_y)
            elif event.type == X.Expose:
                self.square(COUNTER, self.counter)

    def run(self, rate: float) -> None:
        due = time.monotonic()
        while True:
            left = max(0.0, due - time.monotonic()) if rate else None
            self.display.flush()
            # Flushing may read events too: those do not wake anybody.
            if self.display.pending_events() or select.select([self.display], [], [], left)[0]:
                self.react()
            if rate and time.monotonic() >= due:
                self.tick()
                due = max(due + 1 / rate, time.monotonic())


def waves(side: int) -> list[np.ndarray]:
    """Pictures of two waves that meet, with a little noise."""
    y, x = np.mgrid[:side, :side] / side
    noise = np.random.default_rng(1).normal(0, 2, (side, side))
    found = []
    for step in range(60):
        phase = step * np.pi / 30
        high = np.sin(np.hypot(x, y) * 40 - phase) + np.sin(np.hypot(1 - x, y - 0.4) * 55 - 2 * phase)
        level = np.clip(127 + 60 * high + noise, 0, 255)
        colors = (255 - level, 255 - abs(2 * level - 255), level, np.zeros_like(level))
        found.append(np.stack(colors, axis=2).astype(np.uint8))
    return found


def declare() -> None:
    """As a job, have a parameter, which changes nothing."""
    try:
        import crossdesk_publish as publish
    except ImportError:
        return
    publish.parameter("unused", 1, minimum=0, maximum=9)


if __name__ == "__main__":
    declare()
    sizes = [int(word) for word in sys.argv[2:]] + [0, 0]
    drawing = Drawing(*sizes[:2])
    print("ready", flush=True)
    drawing.run(float(sys.argv[1]))
