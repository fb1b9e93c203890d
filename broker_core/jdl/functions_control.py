"""Choice and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.jdl.function import Function, Late, careful, table
from broker_core.jdl.functions_types import to_int
from broker_core.jdl.operators import truth
from broker_core.jdl.tree import ERROR
from broker_core.jdl.values import Value


def _if_then_else(evaluation: Any, arguments: Sequence[Late]) -> Value:
    held = truth(arguments[0]())
    if held is True:
        return arguments[1]()
    return arguments[2]() if held is False else held


def _time(evaluation: Any, arguments: Sequence[Late]) -> Value:
    return ERROR if evaluation.now is None else int(evaluation.now)


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


TABLE = table(
    Function("ifThenElse", "ifThenElse(test, yes, no)", "yes or no, as the test says.", 3, 3, _if_then_else),
    Function("time", "time()", "Seconds since 1970, as the broker counts them.", 0, 0, _time),
    careful("interval(seconds)", "A number of seconds as days+hours:minutes:seconds.", 1, 1, _interval),
)
