"""What operators do with values; every one is total (CB-JDL-03)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from broker_core.jdl.evaluation.times import Moment, Span, moment_text, span_text
from broker_core.jdl.evaluation.values import AdValue, Value, wrapped
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED, Missing

_COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WHOLE: dict[str, Callable[[int, int], int]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    ">>>": lambda a, b: (a & ((1 << 64) - 1)) >> (b & 63),
}


def truth(value: Value) -> Value:
    """The value as a condition: True, False, `undefined` or `error`. Numbers count, strings do not."""
    if value is True or value is False or value is UNDEFINED:
        return value
    return value != 0 if type(value) in (int, float) else ERROR


def binary(sign: str, left: Value, right: Value) -> Value:
    """The value of `left sign right`, for all but && and ||."""
    if sign in ("=?=", "=!="):
        return _identical(left, right, sign == "=?=")
    if left is ERROR or right is ERROR:
        return ERROR
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    if sign in _COMPARE:
        return compare(sign, left, right)
    return arithmetic(sign, left, right)


def _identical(left: Value, right: Value, wanted: bool) -> Value:
    if isinstance(left, list | AdValue) or isinstance(right, list | AdValue):
        return ERROR if type(left) is type(right) else not wanted
    return (type(left) is type(right) and left == right) is wanted


def compare(sign: str, left: Value, right: Value) -> Value:
    """Compare two values that are there; strings whatever their case."""
    if isinstance(left, str) and isinstance(right, str):
        return _COMPARE[sign](left.lower(), right.lower())
    if isinstance(left, bool | int | float) and isinstance(right, bool | int | float):
        return _COMPARE[sign](left, right)
    if isinstance(left, Moment | Span) and type(left) is type(right):
        return _COMPARE[sign](left.seconds, right.seconds)
    return ERROR


def arithmetic(sign: str, left: Value, right: Value) -> Value:
    """+ - * / % and the operators on bits."""
    if sign in _WHOLE:
        return _bits(sign, left, right)
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        return _in_time(sign, left, right)
    if isinstance(left, float) or isinstance(right, float):
        return _real(sign, float(left), float(right))
    return _integer(sign, int(left), int(right))


def _bits(sign: str, left: Value, right: Value) -> Value:
    if type(left) is not int or type(right) is not int:
        return ERROR
    return wrapped(_WHOLE[sign](left, right))


def _integer(sign: str, left: int, right: int) -> Value:
    if sign == "+":
        return wrapped(left + right)
    if sign == "-":
        return wrapped(left - right)
    if sign == "*":
        return wrapped(left * right)
    if right == 0:
        return ERROR
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return min(quotient, (1 << 63) - 1) if sign == "/" else left - quotient * right


def _real(sign: str, left: float, right: float) -> Value:
    if sign == "+":
        result = left + right
    elif sign == "-":
        result = left - right
    elif sign == "*":
        result = left * right
    elif sign == "/":
        result = left / right if right else _by_zero(left, right)
    else:
        return ERROR
    return ERROR if result == math.inf else result


def _in_time(sign: str, left: Value, right: Value) -> Value:
    """Sums of points and spans, and spans times a number; all else with them is an error."""
    if isinstance(left, Moment):
        if isinstance(right, Moment):
            return Span(float(left.seconds - right.seconds)) if sign == "-" else ERROR
        return _moved(sign, left, right) if isinstance(right, Span) else ERROR
    if isinstance(left, Span) and isinstance(right, Moment):
        return _moved(sign, right, left) if sign == "+" else ERROR
    if isinstance(left, Span) and isinstance(right, Span):
        allowed, sides = ("+", "-"), (left.seconds, right.seconds)
    elif isinstance(left, Span) and type(right) in (int, float):
        allowed, sides = ("*", "/"), (left.seconds, float(right))
    elif isinstance(right, Span) and type(left) in (int, float):
        allowed, sides = ("*", "*"), (float(left), right.seconds)
    else:
        return ERROR
    result = _real(sign, *sides) if sign in allowed else ERROR
    return Span(result) if isinstance(result, float) and math.isfinite(result) else ERROR


def _moved(sign: str, moment: Moment, by: Span) -> Value:
    if sign not in ("+", "-") or abs(by.seconds) >= 2**62:
        return ERROR
    seconds = moment.seconds + (int(by.seconds) if sign == "+" else -int(by.seconds))
    return Moment(seconds, moment.offset) if abs(seconds) < 2**62 else ERROR


def _by_zero(left: float, zero: float) -> float:
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, zero)


def unary(sign: str, value: Value) -> Value:
    """The value of a sign before an operand."""
    if value is UNDEFINED or value is ERROR:
        return value
    if sign == "!":
        held = truth(value)
        return held if held is ERROR else not held
    if sign == "~":
        return ~value if type(value) is int else ERROR
    if isinstance(value, Span):
        return value if sign == "+" else Span(-value.seconds)
    if type(value) not in (int, float):
        return ERROR
    return value if sign == "+" else wrapped(-value) if type(value) is int else -value


def both(left: Value, right: Callable[[], Value]) -> Value:
    """`left && right`; the right side is looked at only if it matters."""
    first = truth(left)
    if first is False or first is ERROR:
        return first
    second = truth(right())
    if first is True or second is False or second is ERROR:
        return second
    return UNDEFINED


def either(left: Value, right: Callable[[], Value]) -> Value:
    """`left || right`; the right side is looked at only if it matters."""
    first = truth(left)
    if first is True or first is ERROR:
        return first
    second = truth(right())
    if first is False or second is True or second is ERROR:
        return second
    return UNDEFINED


def as_text(value: Value) -> str | None:
    """The value as `strcat` and `string` show it; None where there is no such text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return real_text(value)
    if isinstance(value, list):
        parts = [f'"{item}"' if isinstance(item, str) else as_text(item) for item in value]
        return None if None in parts else "{ " + ",".join(part or "" for part in parts) + " }"
    if isinstance(value, Moment | Span):
        return moment_text(value) if isinstance(value, Moment) else span_text(value)
    return value.value if isinstance(value, Missing) else None


def real_text(value: float) -> str:
    """A real number in the exact form of ClassAds."""
    if math.isnan(value) or math.isinf(value):
        return {True: 'real("NaN")'}.get(math.isnan(value), 'real("INF")' if value > 0 else 'real("-INF")')
    return f"{value:.15E}" if value else f"{value}"
