"""What a function of the language is, and the ways to make one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from broker_core.jdl.evaluation.values import Value, first_missing
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

Late = partial[Value]
"""An argument that is evaluated when it is called; `args` are its expression and its frame."""
ANY = 10_000


@dataclass(frozen=True, slots=True)
class Function:
    """A function: `call` gets the evaluation (for its `now`) and the arguments, not evaluated yet."""

    name: str
    signature: str
    doc: str
    least: int
    """Fewest arguments; with fewer its value is `error`."""
    most: int
    call: Callable[[Any, Sequence[Late]], Value]


def strict(signature: str, doc: str, least: int, most: int, body: Callable[[list[Value]], Value]) -> Function:
    """A function of values: `error` or `undefined` among its arguments is its value too."""

    def call(evaluation: Any, arguments: Sequence[Late]) -> Value:
        values = [argument() for argument in arguments]
        missing = first_missing(values)
        return body(values) if missing is None else missing

    return Function(signature.partition("(")[0], signature, doc, least, most, call)


def charged(
    signature: str, doc: str, least: int, most: int, body: Callable[[Any, list[Value]], Value]
) -> Function:
    """Like `strict`, for a function that takes what it costs from the steps of the evaluation."""

    def call(evaluation: Any, arguments: Sequence[Late]) -> Value:
        values = [argument() for argument in arguments]
        missing = first_missing(values)
        return body(evaluation, values) if missing is None else missing

    return Function(signature.partition("(")[0], signature, doc, least, most, call)


def careful(
    signature: str, doc: str, least: int, most: int, body: Callable[[list[Value]], Value]
) -> Function:
    """A function of values for which `undefined` is an error too."""

    def call(evaluation: Any, arguments: Sequence[Late]) -> Value:
        values = [argument() for argument in arguments]
        return body(values) if first_missing(values) is None else ERROR

    return Function(signature.partition("(")[0], signature, doc, least, most, call)


def vague(signature: str, doc: str, least: int, most: int, body: Callable[[list[Value]], Value]) -> Function:
    """A function of values that is `undefined` if one of them is, even beside an `error`."""

    def call(evaluation: Any, arguments: Sequence[Late]) -> Value:
        values = [argument() for argument in arguments]
        if any(value is UNDEFINED for value in values):
            return UNDEFINED
        return body(values) if first_missing(values) is None else ERROR

    return Function(signature.partition("(")[0], signature, doc, least, most, call)


def eager(signature: str, doc: str, least: int, most: int, body: Callable[[list[Value]], Value]) -> Function:
    """A function of values that also looks at `undefined` and `error` itself."""

    def call(evaluation: Any, arguments: Sequence[Late]) -> Value:
        return body([argument() for argument in arguments])

    return Function(signature.partition("(")[0], signature, doc, least, most, call)


def table(*functions: Function) -> dict[str, Function]:
    """Functions by lower-case name."""
    return {function.name.lower(): function for function in functions}
