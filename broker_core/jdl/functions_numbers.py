"""Functions of numbers."""

from __future__ import annotations

import math

from broker_core.jdl.function import strict, table
from broker_core.jdl.functions_types import _to_real as to_real
from broker_core.jdl.tree import ERROR
from broker_core.jdl.values import Value, is_number, wrapped


def _rounded(how: str, value: Value) -> Value:
    if type(value) is int:
        return value
    real = to_real([value])
    if real is ERROR or not math.isfinite(real) or abs(real) >= 2**63:
        return ERROR
    if how == "floor":
        return math.floor(real)
    return math.ceil(real) if how == "ceiling" else round(real)


def _pow(values: list[Value]) -> Value:
    base, exponent = values
    if not is_number(base) or not is_number(exponent):
        return ERROR
    try:
        result = math.pow(base, exponent)
    except (ValueError, OverflowError):
        return ERROR
    whole = type(base) is int and type(exponent) is int and exponent >= 0 and abs(result) < 2**63
    return wrapped(int(result)) if whole else result


def _quantize(values: list[Value]) -> Value:
    value, steps = values
    if not is_number(value):
        return ERROR
    if isinstance(steps, list):
        for step in steps:
            if is_number(step) and step >= value:
                return step
        steps = steps[-1] if steps else 0
    if not is_number(steps):
        return ERROR
    if steps == 0:
        return value
    count = math.ceil(value / steps)
    return wrapped(count * steps) if type(steps) is int else count * steps


TABLE = table(
    strict("floor(x)", "The largest whole number not above x.", 1, 1, lambda v: _rounded("floor", v[0])),
    strict("ceiling(x)", "The smallest whole number not below x.", 1, 1, lambda v: _rounded("ceiling", v[0])),
    strict("round(x)", "The whole number nearest to x.", 1, 1, lambda v: _rounded("round", v[0])),
    strict("pow(base, exponent)", "base to the power of exponent.", 2, 2, _pow),
    strict(
        "quantize(x, step)", "x rounded up to a multiple of step, or to an item of a list.", 2, 2, _quantize
    ),
)
