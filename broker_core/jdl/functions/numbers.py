"""Functions of numbers."""

from __future__ import annotations

import math

from broker_core.jdl.evaluation.values import Value, is_number, wrapped
from broker_core.jdl.functions.function import careful, table
from broker_core.jdl.functions.types import to_real
from broker_core.jdl.syntax.tree import ERROR


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
    base, exponent = (value if is_number(value) else to_real([value]) for value in values)
    if base is ERROR or exponent is ERROR:
        return ERROR
    try:
        result = math.pow(base, exponent)
    except ValueError:
        return math.nan if base else math.inf
    except OverflowError:
        return math.inf
    if type(base) is not int or type(exponent) is not int or exponent < 0:
        return result
    return int(result) if abs(result) < 2**63 else ERROR


def _quantize(values: list[Value]) -> Value:
    value, steps = values
    if isinstance(steps, list):
        if not steps:
            return value if to_real([value]) is not ERROR else ERROR
        return _next_of(value, steps)
    given, value = value, value if is_number(value) else to_real([value])
    step = steps if is_number(steps) else to_real([steps])
    if value is ERROR or step is ERROR or not math.isfinite(value) or not math.isfinite(step):
        return ERROR
    if step == 0:
        return given
    if type(value) is int and type(step) is int:
        above = (value + step - 1) if value * step > 0 or value >= 0 else value
        return wrapped(_cut(above, step) * step)
    ratio = value / step
    return (float(math.ceil(ratio)) or math.copysign(0.0, ratio)) * step


def _next_of(value: Value, steps: list[Value]) -> Value:
    value = value if is_number(value) else to_real([value])
    if value is ERROR or not all(is_number(step) for step in steps):
        return ERROR
    for step in steps:
        if step >= value:
            return step
    return _quantize([value, steps[-1]])


def _cut(value: int, by: int) -> int:
    return abs(value) // abs(by) * (1 if (value < 0) == (by < 0) else -1)


TABLE = table(
    careful("floor(x)", "The largest whole number not above x.", 1, 1, lambda v: _rounded("floor", v[0])),
    careful(
        "ceiling(x)", "The smallest whole number not below x.", 1, 1, lambda v: _rounded("ceiling", v[0])
    ),
    careful("round(x)", "The whole number nearest to x.", 1, 1, lambda v: _rounded("round", v[0])),
    careful("pow(base, exponent)", "base to the power of exponent.", 2, 2, _pow),
    careful(
        "quantize(x, step)", "x rounded up to a multiple of step, or to an item of a list.", 2, 2, _quantize
    ),
)
