"""Positions of a slider and the values of a parameter. No widgets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from broker_core.jobs.published.parameters import Parameter, ParameterType

_STEPS = 1000
_DECADES = 100.0
"""From this ratio of the ends on equal steps are equal ratios."""


@dataclass(frozen=True, slots=True)
class SliderScale:
    """Where the values of a range stand on a slider of whole steps."""

    low: float
    high: float
    whole: bool
    """Only whole numbers are values."""

    @property
    def steps(self) -> int:
        """The last position; the first is 0."""
        return min(_STEPS, int(self.high - self.low)) if self.whole else _STEPS

    @property
    def logarithmic(self) -> bool:
        """Equal steps are equal ratios."""
        return not self.whole and self.low > 0 and self.high / self.low >= _DECADES

    def value(self, position: int) -> float | int:
        """The value at a position, with as many digits as a step is worth."""
        share = position / self.steps
        if position in (0, self.steps):
            exact = self.high if position else self.low
        elif self.logarithmic:
            exact = float(f"{self.low * (self.high / self.low) ** share:.3g}")
        else:
            exact = self.low + (self.high - self.low) * share
            digits = 3 - math.floor(math.log10(self.high - self.low))
            exact = round(exact, digits)
        exact = min(self.high, max(self.low, exact))
        return round(exact) if self.whole else exact

    def position(self, value: float) -> int:
        """The position nearest to a value."""
        if self.logarithmic:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(self.steps, max(0, round(share * self.steps)))


def scale_of(parameter: Parameter) -> SliderScale | None:
    """The scale of a number with both ends; None: there is nothing to slide along."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.type not in (ParameterType.NUMBER, ParameterType.INTEGER) or low is None or high is None:
        return None
    whole = parameter.type is ParameterType.INTEGER
    low, high = (math.ceil(low), math.floor(high)) if whole else (low, high)
    return SliderScale(low, high, whole) if low < high and math.isfinite(high - low) else None
