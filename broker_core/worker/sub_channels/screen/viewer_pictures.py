"""What one desk gets of a screen: exact tiles where those are small, else video, made exact once still."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from broker_core.interactive.channel.pictures import PackedPicture
from broker_core.worker.sub_channels.screen.bit_rate import BitRate
from broker_core.worker.sub_channels.screen.capture import ScreenCapture
from broker_core.worker.sub_channels.screen.video_encoder import VideoEncoder
from broker_core.worker.sub_channels.screen.video_libraries import NoVideo

log = logging.getLogger("crossdesk.agent")
RATE = 30
"""Pictures a second, at most."""
STILL = 0.5
"""Seconds after which a tile that has not changed again is sent exactly."""
_SAMPLE = 8
"""Tiles that are packed to know about how large all of them are."""


class ViewerPictures:
    """Makes the pictures for one desk. Belongs to one thread at a time."""

    def __init__(self, *, video: bool) -> None:
        """`video`: whether the desk shows it, and this node makes it."""
        self.captured = 0
        """Number of the capture that the desk has."""
        self._rate: BitRate | None = None
        self._number = 0
        self._video = video
        self._encoder: VideoEncoder | None = None
        self._begun = 0.0
        self._inexact: set[int] = set()
        """Tiles that the desk has out of video."""

    def next(self, capture: ScreenCapture, now: float) -> PackedPicture | None:
        """What the desk misses; None if nothing."""
        if self._rate is None:
            self._rate = BitRate(capture.grid.width * capture.grid.height)
        changed = capture.since(self.captured)
        self.captured = capture.number
        budget = self._rate.bits // 8 // RATE
        if changed and self._video and _size(capture, changed) > budget:
            try:
                return self._with_video(capture, changed, now)
            except NoVideo as error:
                log.warning("The screen is sent without video from now on: %s.", error)
                self._video = False
        refined = self._refined(capture, set(changed), now, budget)
        self._inexact.difference_update(changed)
        tiles = [(index, capture.packed(index)) for index in sorted({*changed, *refined})]
        return self._numbered(tiles) if tiles else None

    def shown(self, delay: float, now: float) -> None:
        """A picture was shown so many seconds after its capture."""
        if self._rate is not None:
            self._rate.shown(delay, now)

    def _with_video(self, capture: ScreenCapture, changed: list[int], now: float) -> PackedPicture:
        assert self._rate is not None
        if self._encoder is None:
            self._encoder = VideoEncoder(capture.grid.width, capture.grid.height, self._rate.video_bits)
            self._begun = now
        milliseconds = round((now - self._begun) * 1000)
        frame = self._encoder.encode(capture.pixels, capture.stride, milliseconds, self._rate.video_bits)
        if not frame:
            raise NoVideo("a frame is missing")
        self._inexact.update(changed)
        refined = self._refined(capture, set(changed), now, self._rate.bits // 8 // RATE)
        return self._numbered([(index, capture.packed(index)) for index in refined], frame, changed)

    def _numbered(
        self, tiles: Sequence[tuple[int, bytes]], frame: bytes = b"", moved: Sequence[int] = ()
    ) -> PackedPicture:
        self._number += 1
        return PackedPicture(self._number, tiles, frame, moved)

    def _refined(self, capture: ScreenCapture, changed: set[int], now: float, budget: int) -> list[int]:
        """Tiles to be made exact now: as many as fit, and one at least if there are any."""
        found: list[int] = []
        for index in sorted(self._inexact - changed):
            if now - capture.last_changed[index] >= STILL:
                budget -= len(capture.packed(index))
                if found and budget < 0:
                    break
                found.append(index)
        self._inexact.difference_update(found)
        return found


def _size(capture: ScreenCapture, tiles: list[int]) -> int:
    """About as many bytes as these tiles are, by some of them."""
    sample = tiles[:: max(1, len(tiles) // _SAMPLE)]
    return sum(len(capture.packed(index)) for index in sample) * len(tiles) // len(sample)
