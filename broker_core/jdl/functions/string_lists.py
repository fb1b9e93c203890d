"""Functions of strings that hold lists, such as "a, b, c"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_core.jdl.evaluation.values import Value
from broker_core.jdl.functions.function import Function, Late, careful, eager, strict, table
from broker_core.jdl.functions.regexp import usable
from broker_core.jdl.functions.strings import split_words
from broker_core.jdl.functions.types import to_real
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED


def _tested(signature: str, doc: str, body: Callable[[list[Value]], Value]) -> Function:
    """A question about two texts of which one may be missing: it then has no words."""

    def known(values: list[Value]) -> Value:
        if ERROR in values:
            return ERROR
        if values[0] is UNDEFINED and values[1] is UNDEFINED:
            return UNDEFINED
        return body(["" if value is UNDEFINED else value for value in values])

    return eager(signature, doc, 2, 3, known)


def _words(values: list[Value], at: int, delimiters_at: int, fold: bool = False) -> list[str] | None:
    delimiters = values[delimiters_at] if len(values) > delimiters_at else ", "
    if not isinstance(values[at], str) or not isinstance(delimiters, str):
        return None
    words = [word.strip() for word in split_words(values[at], delimiters)]
    return [word.lower() for word in words] if fold else words


def _member(values: list[Value], fold: bool) -> Value:
    words = _words(values, 1, 2, fold)
    if words is None or not isinstance(values[0], str):
        return ERROR
    return (values[0].lower() if fold else values[0]) in words


def _size(values: list[Value]) -> Value:
    words = _words(values, 0, 1)
    return ERROR if words is None else len(words)


def _fold(values: list[Value], what: str) -> Value:
    words = _words(values, 0, 1)
    if words is None:
        return ERROR
    numbers = [to_real([word]) for word in words]
    if ERROR in numbers:
        return ERROR
    whole = all(word.lstrip("+-").isdigit() for word in words)
    if not numbers:
        return {"sum": 0.0, "avg": 0.0}.get(what, UNDEFINED)
    if what == "avg":
        mean = sum(numbers) / len(numbers)
        return int(mean) if whole else mean
    result = sum(numbers) if what == "sum" else min(numbers) if what == "min" else max(numbers)
    return int(result) if whole else result


def _sets(values: list[Value], what: str, fold: bool = False) -> Value:
    one, other = _words(values, 0, 2, fold), _words(values, 1, 2, fold)
    if one is None or other is None:
        return ERROR
    return not set(one).isdisjoint(other) if what == "meet" else set(one) <= set(other)


def _fold_function(name: str, what: str, doc: str) -> Function:
    return careful(f"{name}(list, delimiters)", doc, 1, 2, lambda v: _fold(v, what))


def _regexp_member(evaluation: Any, arguments: Sequence[Late]) -> Value:
    values = [argument() for argument in arguments]
    words, options = _words(values, 1, 2), values[3] if len(values) > 3 else ""
    if words is None or not isinstance(values[0], str) or not isinstance(options, str):
        return ERROR
    if not words:
        return UNDEFINED
    for word in words:
        pattern = usable(evaluation, values[0], word, options)
        if pattern is None or pattern.search(word):
            return ERROR if pattern is None else True
    return False


TABLE = table(
    Function(
        "stringList_regexpMember",
        "stringList_regexpMember(pattern, list, delimiters, options)",
        "True if the pattern occurs in a word of it.",
        2,
        4,
        _regexp_member,
    ),
    _tested(
        "stringListMember(x, list, delimiters)",
        "True if x is a word of it.",
        lambda v: _member(v, False),
    ),
    _tested(
        "stringListIMember(x, list, delimiters)",
        "As before, whatever the case.",
        lambda v: _member(v, True),
    ),
    careful("stringListSize(list, delimiters)", "Number of its words.", 1, 2, _size),
    _fold_function("stringListSum", "sum", "Sum of its numbers."),
    _fold_function("stringListAvg", "avg", "Mean of its numbers."),
    _fold_function("stringListMin", "min", "Smallest of its numbers."),
    _fold_function("stringListMax", "max", "Largest of its numbers."),
    strict(
        "stringListsIntersect(a, b, delimiters)",
        "True if they share a word.",
        2,
        3,
        lambda v: _sets(v, "meet"),
    ),
    _tested(
        "stringListSubsetMatch(a, b, delimiters)",
        "True if b has all words of a.",
        lambda v: _sets(v, "in"),
    ),
    _tested(
        "stringListISubsetMatch(a, b, delimiters)",
        "As before, whatever the case.",
        lambda v: _sets(v, "in", True),
    ),
)
