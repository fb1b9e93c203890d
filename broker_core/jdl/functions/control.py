"""Choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import Value
from broker_core.jdl.functions.function import Function, Late, table


def _if_then_else(evaluation: Any, arguments: Sequence[Late]) -> Value:
    held = truth(arguments[0]())
    if held is True:
        return arguments[1]()
    return arguments[2]() if held is False else held


TABLE = table(
    Function("ifThenElse", "ifThenElse(test, yes, no)", "yes or no, as the test says.", 3, 3, _if_then_else),
)
