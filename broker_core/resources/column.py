"""One attribute of many resources: a small number for each row, and the distinct values behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.ma
import numpy.typing as npt

from broker_core.jdl.syntax.tree import UNDEFINED

Codes = npt.NDArray[np.int32]
_SLACK = 64


def key_of(value: Any) -> Any:
    """What tells values apart that expressions tell apart: 1, 1.0 and true are three values."""
    if type(value) is str:
        return value
    if type(value) is float:
        return float, value.hex()
    if isinstance(value, list):
        return (list, *map(key_of, value))
    return (type(value), value) if isinstance(value, int) else (type(value), repr(value))


class AttributeColumn:
    """One attribute, dictionary-coded; code 0 is `undefined`.

    `generation` rises when codes get another meaning; what was computed for each distinct value stays good
    until then.
    """

    __slots__ = ("_codes", "_known", "generation", "values")

    def __init__(self, capacity: int) -> None:
        self._codes: Codes = np.zeros(capacity, np.int32)
        self._known: dict[Any, int] = {}
        self.values: list[Any] = [UNDEFINED]
        """The distinct values by code."""
        self.generation = 0

    def codes(self, size: int) -> Codes:
        """The codes of the first `size` rows; not to be written to."""
        return self._codes[:size]

    def value(self, row: int) -> Any:
        """The value in a row, `undefined` where there is none."""
        return self.values[self._codes[row]]

    def put(self, row: int, value: Any) -> bool:
        """Set the value of a row; True if it had another one."""
        if value is UNDEFINED:
            return self.clear(row)
        key = key_of(value)
        code = self._known.get(key)
        if code is None:
            code = self._known[key] = len(self.values)
            self.values.append(value)
            if len(self.values) > 2 * len(self._codes) + _SLACK:
                self._set(row, code)
                self._tidy()
                return True
        return self._set(row, code)

    def clear(self, row: int) -> bool:
        """The row has no value any more; True if it had one."""
        return self._set(row, 0)

    def _set(self, row: int, code: int) -> bool:
        if self._codes.item(row) == code:
            return False
        self._codes[row] = code
        return True

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        grown = np.zeros(capacity, np.int32)
        grown[: len(self._codes)] = self._codes
        self._codes = grown

    def _tidy(self) -> None:
        """Forget values that no row has any more; done when they are the larger part."""
        used, codes = np.unique(np.append(self._codes, np.int32(0)), return_inverse=True)
        self._codes = codes[:-1].astype(np.int32)
        self.values = [self.values[code] for code in used]
        self._known = {key_of(value): code for code, value in enumerate(self.values) if code}
        self.generation += 1

    def copy(self) -> AttributeColumn:
        """A column of its own with the same values."""
        other = AttributeColumn(0)
        other._codes, other._known, other.values = self._codes.copy(), dict(self._known), list(self.values)
        return other
