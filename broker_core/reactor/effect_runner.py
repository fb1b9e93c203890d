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
        """Carry out effects in their order; all of them, though one fails, whose error is raised then.

        Raises NoCarrier, whatever a carrier raises, or ExceptionGroup where several fail.
        """
        failures = list[Exception]()
        for effect in effects:
            try:
                self._carrier(effect)(effect)
            except Exception as error:  # noqa: BLE001 - it is raised once the others are carried out
                failures.append(error)
        if len(failures) > 1:
            raise ExceptionGroup(f"{len(failures)} effects were not carried out", failures)
        if failures:
            raise failures[0]

    def _carrier(self, effect: object) -> Carrier:
        try:
            return self._carriers[type(effect)]
        except KeyError:
            raise NoCarrier(f"nobody carries out {type(effect).__name__}") from None
