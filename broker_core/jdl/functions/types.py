"""Questions about the type of a value, and conversions."""

from __future__ import annotations

import math
import re

from broker_core.jdl.evaluation.operators import as_text
from broker_core.jdl.evaluation.times import Moment, Span
from broker_core.jdl.evaluation.values import AdValue, Value, bounded
from broker_core.jdl.functions.function import eager, strict, table
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

_REAL = re.compile(r"\s*[-+]?(?:[0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})(?:[eE][-+]?[0-9]{1,4})?")


def to_int(values: list[Value]) -> Value:
    """The first value as a whole number, cut towards 0, or `error`."""
    value = values[0]
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and abs(value) < 2**63 else ERROR
    if isinstance(value, Moment | Span):
        return int(value.seconds)
    if isinstance(value, str):
        real = to_real(values)
        return ERROR if real is ERROR or abs(real) >= 2**63 else int(real)
    return ERROR


def to_real(values: list[Value]) -> Value:
    """The first value as a real number, or `error`; of a text, the number that it begins with."""
    value = values[0]
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, Moment | Span):
        return float(int(value.seconds))
    if isinstance(value, str) and (found := _REAL.match(value)):
        number = float(found.group())
        return number if math.isfinite(number) else ERROR
    return ERROR


def _to_string(values: list[Value]) -> Value:
    text = as_text(values[0])
    return ERROR if text is None else bounded(text)


def _to_bool(values: list[Value]) -> Value:
    value = values[0]
    if isinstance(value, bool | int | float):
        return value != 0
    if isinstance(value, Moment | Span):
        return value.seconds != 0
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), UNDEFINED)
    return ERROR


TABLE = table(
    eager("isUndefined(x)", "True if x has no value.", 1, 1, lambda v: v[0] is UNDEFINED),
    eager("isError(x)", "True if x is an error.", 1, 1, lambda v: v[0] is ERROR),
    eager("isString(x)", "True if x is a string.", 1, 1, lambda v: isinstance(v[0], str)),
    eager("isInteger(x)", "True if x is a whole number.", 1, 1, lambda v: type(v[0]) is int),
    eager("isReal(x)", "True if x is a real number.", 1, 1, lambda v: type(v[0]) is float),
    eager("isBoolean(x)", "True if x is true or false.", 1, 1, lambda v: isinstance(v[0], bool)),
    eager("isList(x)", "True if x is a list.", 1, 1, lambda v: isinstance(v[0], list)),
    eager("isClassAd(x)", "True if x is an ad.", 1, 1, lambda v: isinstance(v[0], AdValue)),
    strict("int(x)", "x as a whole number, cut towards 0.", 1, 1, to_int),
    strict("real(x)", "x as a real number.", 1, 1, to_real),
    strict("string(x)", "x as a text.", 1, 1, _to_string),
    strict("bool(x)", "x as true or false.", 1, 1, _to_bool),
)
