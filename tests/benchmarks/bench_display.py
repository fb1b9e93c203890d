"""The display of a job over loopback: agent, relay, SSH and a painted canvas; the program always draws."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from broker_core.interactive.channel.pictures import Grid, ScreenPicture
from tests.benchmarks.figure import Figure
from tests.interactive.drawing import KEY, SIDE
from tests.interactive.pair import Bench, bench
from tests.interactive.screens import BESIDE, program
from tests.waiting import eventually

if TYPE_CHECKING:
    from app.inspector.view.display_canvas import DisplayCanvas
    from app.inspector.view.display_pixels import DisplayPixels
    from broker_core.interactive.shadow.screen import RemoteScreen

SIZE, RATE = (1024, 768), 60
SCENES = {"hard scene, 1024×768": program(RATE, boxes=60), "color map, 1024×768": program(RATE, side=600)}
"""What is drawn: boxes of changing colors everywhere; waves, as a program that computes shows them."""
SECONDS = 6.0
TAPS = 60
SYMBOLS = 0x100FF80, 0x10100FF
"""Keys that are drawn green, and blue."""
_TICK = os.sysconf("SC_CLK_TCK")


def measure() -> list[Figure]:
    """Pictures a second, input until it is painted, bits and processor time."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication([])
    assert app is not None
    return [figure for scene in SCENES for figure in asyncio.run(_measure(scene))]


@dataclass
class PaintedScreen:
    """Paints each picture before it confirms it, in this very thread."""

    remote: RemoteScreen
    canvas: DisplayCanvas
    shows_video: bool = True
    pixels: DisplayPixels | None = None
    painted: list[tuple[float, int]] = field(default_factory=list)
    """When, and bytes."""
    mine: bool = False
    keys: dict[int, float] = field(default_factory=dict)
    """Symbol of a key to when its effect was first painted; colors of video are not exact."""

    def begin(self, grid: Grid, without_video: str) -> None:
        from app.inspector.view.display_pixels import DisplayPixels

        self.pixels = DisplayPixels(grid)

    def show(self, picture: ScreenPicture) -> None:
        assert self.pixels is not None
        self.canvas.show_image(self.pixels.put(picture))
        self.canvas.repaint()
        self.painted.append((time.monotonic(), picture.size))
        color = self.canvas.image.pixel(KEY * SIDE + 5, 5)
        self.keys.setdefault(min(SYMBOLS, key=lambda symbol: distance(symbol, color)), self.painted[-1][0])
        self.remote.shown(picture.number)

    def control(self, *, mine: bool, taken: bool, viewers: int) -> None:
        self.mine = mine

    def refuse(self, reason: str) -> None:
        raise AssertionError(reason)


async def _measure(scene: str) -> list[Figure]:
    from app.inspector.view.display_canvas import DisplayCanvas

    with tempfile.TemporaryDirectory() as folder:
        async with bench(Path(folder)) as made:
            await made.start_agent(SCENES[scene], screen=SIZE)
            canvas = DisplayCanvas()
            canvas.resize(*SIZE)
            canvas.show()
            remote = made.desk(BESIDE).forwards.screen
            seen = PaintedScreen(remote, canvas)
            remote.follow(seen)
            await eventually(lambda: len(seen.painted) > 30)
            found = [*await _moving(made, seen, scene), await _reacting(seen, scene)]
            canvas.close()
    return found


async def _moving(made: Bench, seen: PaintedScreen, scene: str) -> list[Figure]:
    assert made.agent is not None
    first, begun = len(seen.painted), time.monotonic()
    agent, here = processor(made.agent.pid), time.process_time()
    await eventually(lambda: time.monotonic() - begun >= SECONDS)
    agent, here = processor(made.agent.pid) - agent, time.process_time() - here
    pictures = seen.painted[first:]
    span = pictures[-1][0] - begun
    busy = round(100 * (agent + here) / span)
    return [
        Figure(f"display: {scene}", round(len(pictures) / span, 1), "pictures/s", at_least=25),
        Figure(f"display: agent and desk, {scene}", busy, "% of a core", at_most=100),
        Figure(f"display: {scene}", round(8e-6 * sum(size for _, size in pictures) / span, 1), "Mbit/s"),
    ]


async def _reacting(seen: PaintedScreen, scene: str) -> Figure:
    seen.remote.take_input()
    await eventually(lambda: seen.mine)
    times = []
    for number in range(TAPS):
        symbol = SYMBOLS[number % 2]
        seen.keys.pop(symbol, None)
        begun = time.monotonic()
        seen.remote.key(symbol, down=True)
        seen.remote.key(symbol, down=False)
        await eventually(lambda wanted=symbol: wanted in seen.keys)
        times.append(seen.keys[symbol] - begun)
    median = round(1e3 * statistics.median(times))
    return Figure(f"display: input until it is painted, {scene}", median, "ms", at_most=60)


def distance(one: int, other: int) -> int:
    """Between two colors."""
    return sum(abs((one >> shift & 0xFF) - (other >> shift & 0xFF)) for shift in (0, 8, 16))


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK
