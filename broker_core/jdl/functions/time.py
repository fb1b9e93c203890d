"""Time: now, points in time, spans, and how they are shown; and chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.jdl.evaluation.times import Moment, Span, formatted, moment, span
from broker_core.jdl.evaluation.values import Value, bounded, is_number
from broker_core.jdl.functions.function import Function, Late, careful, eager, strict, table
from broker_core.jdl.functions.types import to_int
from broker_core.jdl.syntax.tree import ERROR

_STANDARD = "%c"


def _time(evaluation: Any, arguments: Sequence[Late]) -> Value:
    return ERROR if evaluation.now is None else int(evaluation.now)


def _random(evaluation: Any, arguments: Sequence[Late]) -> Value:
    chance = evaluation.surroundings.chance
    most = arguments[0]() if arguments else 1.0
    if chance is None or not is_number(most) or not most > 0:
        return ERROR
    number = chance() * most
    return int(number) if type(most) is int else number


def _interval(values: list[Value]) -> Value:
    seconds = to_int(values)
    if seconds is ERROR:
        return ERROR
    text = _clock(abs(seconds))
    return f"-{text}" if seconds < 0 else text


def _clock(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    if days:
        return f"{days}+{hours:02}:{minutes:02}:{seconds:02}"
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}" if minutes else f"{seconds}"


def _format_time(evaluation: Any, arguments: Sequence[Late]) -> Value:
    values = [argument() for argument in arguments] or [evaluation.now]
    at, form = values[0], values[1] if len(values) > 1 else _STANDARD
    seconds: Value = to_int([at]) if is_number(at) or isinstance(at, Moment) else ERROR
    if seconds is ERROR or not isinstance(form, str):
        return ERROR
    text = formatted(seconds, form)
    return ERROR if text is None else bounded(text)


def _moment(values: list[Value]) -> Value:
    value, offset = values[0], values[1] if len(values) > 1 else 0
    if type(offset) is not int:
        return ERROR
    if isinstance(value, str):
        return moment(value) or ERROR
    if isinstance(value, Moment):
        return value
    seconds: Value = to_int(values) if is_number(value) else ERROR
    return ERROR if seconds is ERROR else Moment(seconds, offset)


def _span(values: list[Value]) -> Value:
    value = values[0]
    if isinstance(value, str):
        return span(value) or ERROR
    if isinstance(value, Span):
        return value
    return Span(float(value)) if is_number(value) else ERROR


TABLE = table(
    Function("time", "time()", "Seconds since 1970, as the broker counts them.", 0, 0, _time),
    Function("random", "random(most)", "A number by chance, from 0 to below most (1.0).", 0, 1, _random),
    careful("interval(seconds)", "A number of seconds as days+hours:minutes:seconds.", 1, 1, _interval),
    Function(
        "formatTime", "formatTime(seconds, form)", "A point in time as text, in UTC.", 0, 2, _format_time
    ),
    strict("absTime(x, offset)", "A point in time, from text or seconds since 1970.", 1, 2, _moment),
    strict("relTime(x)", "A span of time, from text or seconds.", 1, 1, _span),
    eager("isAbstime(x)", "True if x is a point in time.", 1, 1, lambda v: isinstance(v[0], Moment)),
    eager("isReltime(x)", "True if x is a span of time.", 1, 1, lambda v: isinstance(v[0], Span)),
)
