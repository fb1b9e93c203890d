"""How many bits a second pictures may have on their way to one desk: as many as arrive there in time."""

from __future__ import annotations

_FIRST, _LEAST, _MOST, _MOST_VIDEO = 5.0, 0.3, 20.0, 10.0
"""Bits a second for each pixel of the screen: 4, 0.25, 16 and 8 Mbit/s for 1024×768."""
_FEWEST = 400_000
"""Pixels for which there are bits also where a screen is smaller."""
_MORE, _LESS = 1.01, 0.7
_SHORT, _LONG = 0.05, 0.1
"""Seconds that pictures wait on their way: below the first one more bits are tried, above the other fewer."""
_REST = 1.0
"""Seconds after which fewer bits have shown what they do."""
_FORGOTTEN = 1.002
"""How much the shortest time so far grows with each picture: ways change."""


class BitRate:
    """Learns from the time between each capture and the word that it is shown."""

    def __init__(self, pixels: int) -> None:
        """`pixels`: of the screen."""
        pixels = max(pixels, _FEWEST)
        self._least, self._most, self._most_video = _LEAST * pixels, _MOST * pixels, _MOST_VIDEO * pixels
        self._rate = _FIRST * pixels
        self._shortest = float("inf")
        self._rests_until = 0.0

    @property
    def bits(self) -> int:
        """A second, at most."""
        return round(self._rate)

    @property
    def video_bits(self) -> int:
        """The same for video: with more of them it looks no better."""
        return round(min(self._rate, self._most_video))

    def shown(self, delay: float, now: float) -> None:
        """A picture was shown so many seconds after its capture."""
        self._shortest = min(delay, self._shortest * _FORGOTTEN)
        waited = delay - self._shortest
        if waited > _LONG and now >= self._rests_until:
            self._rate = max(self._least, self._rate * _LESS)
            self._rests_until = now + _REST
        elif waited < _SHORT:
            self._rate = min(self._most, self._rate * _MORE)
