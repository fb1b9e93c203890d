"""Who carries out which effect: one table for the engine, the simulator and the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Carrier = Callable[[Any], None]
"""Carries out an effect of one type."""


class NoCarrier(LookupError):
    """An effect that nobody carries out: an error in how the parts were put together."""


class EffectRunner:
    """Type of effect to its carrier."""

    def __init__(self, carriers: Mapping[type, Carrier]) -> None:
        self._carriers = dict(carriers)

    def require(self, kinds: Iterable[type]) -> None:
        """Raise NoCarrier, naming them, if one of these types has no carrier."""
        missing = sorted(kind.__name__ for kind in kinds if kind not in self._carriers)
        if missing:
            raise NoCarrier(f"nobody carries out {', '.join(missing)}")

    def run(self, effects: Iterable[object]) -> None:
        """Carry out effects in their order; raises NoCarrier."""
        carriers = self._carriers
        for effect in effects:
            try:
                carry = carriers[type(effect)]
            except KeyError:
                raise NoCarrier(f"nobody carries out {type(effect).__name__}") from None
            carry(effect)
