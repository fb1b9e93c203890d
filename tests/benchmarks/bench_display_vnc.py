"""The display of a job against a VNC server and its viewer: the same program, over loopback, in one run."""

# Needs: vnc
from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from tests.benchmarks import bench_display
from tests.benchmarks.bench_display import SCENES, SECONDS, SIZE, SYMBOLS, TAPS, distance, processor
from tests.benchmarks.figure import Figure
from tests.benchmarks.vnc import Viewed, viewed
from tests.interactive.drawing import BAR, COUNTER, GROUND, KEY, SIDE
from tests.waiting import LONG, eventually

KINDS: dict[str, Sequence[str]] = {
    "Tight": ["-AutoSelect=0", "-PreferredEncoding=Tight"],
    "ZRLE": ["-AutoSelect=0", "-PreferredEncoding=ZRLE"],
}
RATIOS = {"Mbit/s": "bits", "pictures/s": "pictures", "% of a core": "processor time", "ms": "input"}
"""Unit of a figure of both, and the name of its ratio."""
STEP = 0.002
"""Seconds between two looks at the viewer's screen: a time is later by half of it, on average."""
NEAR = 48
"""Most that a color may differ from the one that was drawn: JPEG is not exact."""


def measure() -> list[Figure]:
    """Pictures a second, input until it is seen, bits, processor time; of both, and our share."""
    ours = bench_display.measure()
    found, ratios = list(ours), []
    for (kind, options), scene in product(KINDS.items(), SCENES):
        theirs = asyncio.run(_measure(f"TigerVNC, {kind}", options, scene))
        found += theirs
        ratios += _ratios(f"{kind}, {scene}", [one for one in ours if scene in one.what], theirs)
    return found + ratios


def _ratios(name: str, ours: list[Figure], theirs: list[Figure]) -> list[Figure]:
    own, other = ({figure.unit: figure.value for figure in figures} for figures in (ours, theirs))
    return [
        Figure(
            f"display against TigerVNC, {name}: {what}",
            round(own[unit] / other[unit], 2),
            "times",
        )
        for unit, what in RATIOS.items()
    ]


@dataclass
class Watch:
    """What the viewer shows, found by polling: a picture that is replaced within STEP is missed."""

    made: Viewed
    counters: set[int] = field(default_factory=set)
    """Colors of the counter: one for each picture of the program that was seen."""
    keys: dict[int, float] = field(default_factory=dict)
    """Symbol of a key to when its effect was first seen."""

    async def serve(self) -> None:
        while True:
            counter, color = self.made.colors(*((square * SIDE + 5, 5) for square in (COUNTER, KEY)))
            self.counters.add(counter)
            nearest = min(SYMBOLS, key=lambda symbol: distance(symbol, color))
            if distance(nearest, color) <= NEAR:
                self.keys.setdefault(nearest, time.monotonic())
            await asyncio.sleep(STEP)

    def tap(self, symbol: int) -> None:
        """Press and release a key at the viewer."""
        self.keys.pop(symbol, None)
        self.made.screen.input.key(symbol, down=True)
        self.made.screen.input.key(symbol, down=False)


async def _measure(who: str, options: Sequence[str], scene: str) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            viewed(Path(folder), SIZE, SCENES[scene], options) as made,
            _watched(made) as seen,
        ):
            await eventually(lambda: len(seen.counters) > 30, what="30 pictures are seen")
            await eventually(lambda: _is_filled(made), what="the viewer fills its screen")
            return [*await _moving(who, made, seen, scene), await _reacting(who, seen, scene)]


@asynccontextmanager
async def _watched(made: Viewed) -> AsyncIterator[Watch]:
    seen = Watch(made)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(seen.serve())
        yield seen
        serving.cancel()


def _is_filled(made: Viewed) -> bool:
    """True if the corners without boxes are those of the program's screen: no frame, nothing cut off."""
    width, height = SIZE
    *corners, inside, outside = made.colors(
        (width - 1, 0), (0, height - 1), (width - 1, height - 1), (SIDE - 1, 5), (SIDE, 5)
    )
    filled = all(min(distance(corner, drawn) for drawn in (GROUND, BAR)) <= NEAR for corner in corners)
    return filled and distance(inside, GROUND) > NEAR >= distance(outside, GROUND)


async def _moving(who: str, made: Viewed, seen: Watch, scene: str) -> list[Figure]:
    both = made.server.pid, made.viewer.pid
    seen.counters.clear()
    begun, counted, busy = time.monotonic(), made.proxy.counted, sum(map(processor, both))
    await eventually(lambda: time.monotonic() - begun >= SECONDS)
    span, counted = time.monotonic() - begun, made.proxy.counted - counted
    busy = sum(map(processor, both)) - busy
    return [
        Figure(f"{who}: {scene}", round(len(seen.counters) / span, 1), "pictures/s"),
        Figure(f"{who}: server and viewer, {scene}", round(100 * busy / span), "% of a core"),
        Figure(f"{who}: {scene}", round(8e-6 * counted / span, 1), "Mbit/s"),
    ]


async def _reacting(who: str, seen: Watch, scene: str) -> Figure:
    await _teach(seen)
    times = []
    for number in range(TAPS):
        symbol = SYMBOLS[number % 2]
        begun = time.monotonic()
        seen.tap(symbol)
        await eventually(lambda wanted=symbol: wanted in seen.keys)
        times.append(seen.keys[symbol] - begun)
    return Figure(f"{who}: input until it is seen, {scene}", round(1e3 * statistics.median(times)), "ms")


async def _teach(seen: Watch) -> None:
    """Tap until both keys work, twice each: of a new symbol the server must first make a key."""
    good = 0
    async with asyncio.timeout(LONG):
        while good < 2 * len(SYMBOLS):
            symbol = SYMBOLS[good % 2]
            seen.tap(symbol)
            try:
                await eventually(lambda wanted=symbol: wanted in seen.keys, 1.0)
                good += 1
            except AssertionError:
                good = 0
