"""Regular expressions, bounded (see `regexp`)."""

from __future__ import annotations

import re
from typing import Any

from broker_core.jdl.evaluation.regexp import compiled, cost
from broker_core.jdl.evaluation.values import Value, bounded
from broker_core.jdl.functions.function import charged, table
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

_REFERENCE = re.compile(r"\\([0-9])|\$([0-9])")


_STEP = 300
"""Steps of the matcher that cost as much as one of the evaluator."""


def usable(evaluation: Any, pattern: Value, text: Value, options: Value) -> re.Pattern[str] | None:
    """The pattern, made ready and paid for; None if it is none, or costs more than is left."""
    if not (isinstance(pattern, str) and isinstance(text, str) and isinstance(options, str)):
        return None
    steps = cost(pattern, text)
    if steps is None:
        return None
    evaluation.steps -= steps // _STEP
    return compiled(pattern, options) if evaluation.steps >= 0 else None


def _regexp(evaluation: Any, values: list[Value]) -> Value:
    pattern = usable(evaluation, *values[:2], *(values[2:] or [""]))
    return ERROR if pattern is None else pattern.search(values[1]) is not None


def regexp_member(evaluation: Any, values: list[Value]) -> Value:
    """Whether the pattern occurs in an item of the list; see `regexpMember`."""
    wanted, items = values[0], values[1]
    if not isinstance(items, list):
        return ERROR
    result: Value = False
    for item in items:
        if item is UNDEFINED:
            result = UNDEFINED
            continue
        pattern = usable(evaluation, wanted, item, *(values[2:] or [""]))
        if pattern is None:
            return ERROR
        if pattern.search(item):
            return True
    return result if isinstance(wanted, str) else ERROR


def _expanded(match: re.Match[str], template: str) -> str:
    def group(reference: re.Match[str]) -> str:
        number = int(reference[1] or reference[2])
        return (match[number] or "") if number <= (match.re.groups) else ""

    return _REFERENCE.sub(group, template)


def _regexps(evaluation: Any, values: list[Value]) -> Value:
    pattern = usable(evaluation, *values[:2], *(values[3:] or [""]))
    if pattern is None or not isinstance(values[2], str):
        return ERROR
    match = pattern.search(values[1])
    return bounded(_expanded(match, values[2])) if match else ""


def _endless(hit: re.Match[str]) -> bool:
    """Nothing was found where nothing could be found again and again."""
    return hit.start() == hit.end() and (hit.start() > 0 or not hit.string)


def _replaced(evaluation: Any, values: list[Value], count: int) -> Value:
    pattern = usable(evaluation, *values[:2], *(values[3:] or [""]))
    if pattern is None or not isinstance(values[2], str) or len(values[2]) * (len(values[1]) + 1) > 1 << 22:
        return ERROR
    if count == 0 and any(_endless(hit) for hit in pattern.finditer(values[1])):
        return ERROR
    return bounded(pattern.sub(lambda match: _expanded(match, values[2]), values[1], count=count))


TABLE = table(
    charged("regexp(pattern, text, options)", "True if the pattern occurs in the text.", 2, 3, _regexp),
    charged(
        "regexpMember(pattern, list, options)", "True if the pattern occurs in an item.", 2, 3, regexp_member
    ),
    charged("regexps(pattern, text, result, options)", "The result with \\1 ... filled in.", 3, 4, _regexps),
    charged(
        "replace(pattern, text, by, options)",
        "The text with the first hit replaced.",
        3,
        4,
        lambda e, v: _replaced(e, v, 1),
    ),
    charged(
        "replaceAll(pattern, text, by, options)",
        "The text with all hits replaced.",
        3,
        4,
        lambda e, v: _replaced(e, v, 0),
    ),
)
