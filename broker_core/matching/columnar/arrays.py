"""Arithmetic and comparison of many values at once, exactly as `jdl.evaluation.operators` does it for two.

Where the result could differ in the last bit, the answer is None, and the caller evaluates value by value.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.jobs.immutable import immutable

Array = npt.NDArray[Any]
Truth = npt.NDArray[np.int8]
"""A condition by row: FALSE, TRUE, UNDEFINED or ERROR."""
FALSE, TRUE, UNDEFINED, ERROR = range(4)
EXACT = 2.0**53
"""Up to here a real number holds every whole one."""
WHOLE = 2.0**62
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_REAL: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}
_BOTH = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 2, 3], [3, 3, 3, 3]], np.int8)
_EITHER = np.array([[0, 1, 2, 3], [1, 1, 1, 1], [2, 1, 2, 3], [3, 3, 3, 3]], np.int8)


@immutable
class Numbers:
    """Numbers by row, or one for all rows; what stands where one is missing means nothing."""

    values: Array
    missing: Truth | None
    """0, or UNDEFINED or ERROR; None if no number is missing."""
    real: bool
    limit: float
    """No whole number here is larger, whatever its sign."""
    truth: bool = False
    """They were truth values, which count as 0 and 1."""
    mixed: bool = False
    """Some are or were whole, some real; all are held as real numbers, which are exact up to the limit but
    tell -0.0 from 0: nothing is divided by them."""


def spread(found: Array, size: int) -> Array:
    """A result for each row, from one for each or one for all."""
    return found if found.ndim else np.broadcast_to(found, size)


def both(left: Truth, right: Truth) -> Truth:
    """`left && right`."""
    return _BOTH[left, right]


def either(left: Truth, right: Truth) -> Truth:
    """`left || right`."""
    return _EITHER[left, right]


def negated(held: Truth) -> Truth:
    """`!held`."""
    return np.where(held < UNDEFINED, held ^ 1, held)


def of_truth(held: Truth) -> Numbers:
    """Truth values as numbers."""
    missing = np.where(held >= UNDEFINED, held, np.int8(0))
    return Numbers((held == TRUE).astype(np.int64), missing if missing.any() else None, False, 1.0, True)


def condition(numbers: Numbers) -> Truth:
    """Numbers as a condition: all but 0 hold."""
    return _with_missing((numbers.values != 0).view(np.int8), numbers.missing)


def compared(sign: str, left: Numbers, right: Numbers) -> Truth | None:
    """`left sign right` for the six comparisons."""
    if left.real != right.real and max(left.limit, right.limit) > EXACT:
        return None
    held = np.asarray(_COMPARE[sign](left.values, right.values))
    return _with_missing(held.view(np.int8), _missing(left, right))


def computed(sign: str, left: Numbers, right: Numbers) -> Numbers | None:
    """`left sign right` for + - * / %; None for other operators."""
    if sign not in ("+", "-", "*", "/", "%"):
        return None
    if left.real or right.real:
        with np.errstate(all="ignore"):
            return _real(sign, left, right)
    return _divided(sign, left, right) if sign in ("/", "%") else _integer(sign, left, right)


def minus(numbers: Numbers) -> Numbers | None:
    """`-numbers`."""
    if numbers.truth or numbers.limit > WHOLE:
        return None
    return Numbers(-numbers.values, numbers.missing, numbers.real, numbers.limit, mixed=numbers.mixed)


def chosen(held: Truth, yes: Numbers, no: Numbers) -> Numbers | None:
    """`held ? yes : no`."""
    mixed = yes.mixed or no.mixed or yes.real != no.real
    limit = max(yes.limit, no.limit)
    if yes.truth != no.truth or (mixed and limit > EXACT):
        return None
    holds = held == TRUE
    values = np.where(holds, yes.values, no.values)
    missing: Truth | None = None
    if yes.missing is not None or no.missing is not None or (held > TRUE).any():
        missing = np.where(holds, _or_none(yes), np.where(held == FALSE, _or_none(no), held))
    return Numbers(values, missing, yes.real or no.real, limit, yes.truth, mixed)


def _real(sign: str, left: Numbers, right: Numbers) -> Numbers | None:
    if max(left.limit, right.limit) > EXACT:
        return None
    missing = _missing(left, right)
    mixed = left.mixed or right.mixed
    pure = (left.real and not left.mixed) or (right.real and not right.mixed)
    if pure and sign == "%":
        return Numbers(np.asarray(0.0), _marked(np.asarray(True), missing), True, 0.0)
    limit = _limit(sign, left, right)
    if mixed and (limit > EXACT or sign == "%" or (sign == "/" and (right.mixed or not pure))):
        return None
    values = np.asarray(_REAL[sign](left.values.astype(np.float64), right.values.astype(np.float64)))
    missing = _marked(values == np.inf, missing)
    return Numbers(values, missing, True, limit if mixed else 0.0, mixed=mixed)


def _integer(sign: str, left: Numbers, right: Numbers) -> Numbers | None:
    limit = _limit(sign, left, right)
    if limit > WHOLE:
        return None
    return Numbers(np.asarray(_REAL[sign](left.values, right.values)), _missing(left, right), False, limit)


def _limit(sign: str, left: Numbers, right: Numbers) -> float:
    return left.limit * right.limit if sign == "*" else left.limit + right.limit


def _divided(sign: str, left: Numbers, right: Numbers) -> Numbers | None:
    """Cut towards 0; by 0 it is an error."""
    if max(left.limit, right.limit) > WHOLE:
        return None
    divisor, missing = right.values, _missing(left, right)
    if not divisor.all():
        missing = _marked(divisor == 0, missing)
        divisor = np.where(divisor == 0, 1, divisor)
    rest = np.fmod(left.values, divisor)
    values = rest if sign == "%" else (left.values - rest) // divisor
    return Numbers(np.asarray(values), missing, False, left.limit)


def _missing(left: Numbers, right: Numbers) -> Truth | None:
    if left.missing is None or right.missing is None:
        return left.missing if right.missing is None else right.missing
    return np.maximum(left.missing, right.missing)


def _or_none(numbers: Numbers) -> Truth:
    return np.asarray(0, np.int8) if numbers.missing is None else numbers.missing


def _marked(wrong: Array, missing: Truth | None) -> Truth | None:
    """An error where the result is wrong and nothing was missing before."""
    if not wrong.any():
        return missing
    here = np.where(wrong, np.int8(ERROR), np.int8(0))
    return here if missing is None else np.where(missing == 0, here, missing)


def _with_missing(held: Truth, missing: Truth | None) -> Truth:
    return held if missing is None else np.where(missing == 0, held, missing)
