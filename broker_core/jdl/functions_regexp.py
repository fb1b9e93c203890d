"""Regular expressions, bounded (see `regexp`)."""

from __future__ import annotations

import re

from broker_core.jdl.function import strict, table
from broker_core.jdl.regexp import usable
from broker_core.jdl.tree import ERROR, UNDEFINED
from broker_core.jdl.values import Value, bounded

_REFERENCE = re.compile(r"\\([0-9])|\$([0-9])")


def _pattern(values: list[Value], options_at: int) -> re.Pattern[str] | None:
    options = values[options_at] if len(values) > options_at else ""
    if not all(isinstance(value, str) for value in values):
        return None
    return usable(values[0], values[1], options)


def _regexp(values: list[Value]) -> Value:
    pattern = _pattern(values, 2)
    return ERROR if pattern is None else pattern.search(values[1]) is not None


def regexp_member(values: list[Value]) -> Value:
    """Whether the pattern occurs in an item of the list; see `regexpMember`."""
    wanted, items = values[0], values[1]
    options = values[2] if len(values) > 2 else ""
    if not isinstance(wanted, str) or not isinstance(items, list) or not isinstance(options, str):
        return ERROR
    result: Value = False
    for item in items:
        if item is UNDEFINED:
            result = UNDEFINED
            continue
        if not isinstance(item, str):
            return ERROR
        pattern = usable(wanted, item, options)
        if pattern is None:
            return ERROR
        if pattern.search(item):
            return True
    return result


def _expanded(match: re.Match[str], template: str) -> str:
    def group(reference: re.Match[str]) -> str:
        number = int(reference[1] or reference[2])
        return (match[number] or "") if number <= (match.re.groups) else ""

    return _REFERENCE.sub(group, template)


def _regexps(values: list[Value]) -> Value:
    pattern = _pattern(values, 3)
    if pattern is None:
        return ERROR
    match = pattern.search(values[1])
    return bounded(_expanded(match, values[2])) if match else ""


def _replaced(values: list[Value], count: int) -> Value:
    pattern = _pattern(values, 3)
    if pattern is None or len(values[2]) * (len(values[1]) + 1) > 1 << 22:
        return ERROR
    if count == 0 and any(hit.start() == hit.end() > 0 for hit in pattern.finditer(values[1])):
        return ERROR  # nothing could be replaced again and again
    return bounded(pattern.sub(lambda match: _expanded(match, values[2]), values[1], count=count))


TABLE = table(
    strict("regexp(pattern, text, options)", "True if the pattern occurs in the text.", 2, 3, _regexp),
    strict(
        "regexpMember(pattern, list, options)", "True if the pattern occurs in an item.", 2, 3, regexp_member
    ),
    strict("regexps(pattern, text, result, options)", "The result with \\1 ... filled in.", 3, 4, _regexps),
    strict(
        "replace(pattern, text, by, options)",
        "The text with the first hit replaced.",
        3,
        4,
        lambda v: _replaced(v, 1),
    ),
    strict(
        "replaceAll(pattern, text, by, options)",
        "The text with all hits replaced.",
        3,
        4,
        lambda v: _replaced(v, 0),
    ),
)
