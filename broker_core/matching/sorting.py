"""Sorting by several keys, fast for a hundred thousand rows as well as for three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.matching.columnar.arrays import Array

_FEW = 1500
"""Up to so many rows a general sort is faster than one digit by digit."""
_DIGIT = 16
_WHOLE = 2.0**53
"""Real numbers below that are whole are sorted as such: they have fewer digits."""


def sorted_by(keys: Sequence[Array]) -> npt.NDArray[np.intp]:
    """Positions in ascending order of the first key, then of the second and so on; equal ones keep theirs.

    Keys are whole or real numbers without nan.
    """
    if len(keys[0]) <= _FEW:
        return np.lexsort(keys[::-1])
    order = np.arange(len(keys[0]))
    for key in reversed(keys):
        for digit in _digits(key):
            order = order[np.argsort(digit[order], kind="stable")]
    return order


def _digits(key: Array) -> list[npt.NDArray[np.uint16]]:
    """The key in digits that sort fast, the least significant first; those that are all alike left out."""
    bits = _ordered_bits(key)
    found = []
    for shift in range(0, 64, _DIGIT):
        digit = (bits >> np.uint64(shift)).astype(np.uint16)
        if (digit != digit[0]).any():
            found.append(digit)
    return found


def _ordered_bits(key: Array) -> npt.NDArray[Any]:
    """Unsigned numbers in the same order as the keys."""
    if key.dtype.kind != "f" or (np.abs(key).max() < _WHOLE and (key == np.rint(key)).all()):
        whole = key.astype(np.int64)
        return np.asarray((whole - whole.min()).view(np.uint64))
    bits = (key + 0.0).view(np.uint64)
    top = np.uint64(1 << 63)
    found: Array = np.where(bits & top, ~bits, bits | top)
    return found
