"""One measured figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit, and the bound it has to keep."""

    what: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    processor: float | None = None
    """Of a time: the most that the measured thread worked at one stretch, in the same unit."""

    @property
    def good(self) -> bool | None:
        """True if the bound is kept; None where there is none."""
        if self.at_least is not None:
            return self.value >= self.at_least
        if self.at_most is not None:
            return self.value <= self.at_most
        return None
