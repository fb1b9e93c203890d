"""Comparing version numbers such as 1.2.10."""

from __future__ import annotations

import re

from broker_core.jdl.evaluation.operators import as_text
from broker_core.jdl.evaluation.values import Value, first_missing
from broker_core.jdl.functions.function import eager, table, vague
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

_PART = re.compile(r"[0-9]+|[^0-9]+")


def order(one: str, other: str) -> int:
    """-1, 0 or 1; runs of digits compare as numbers, the rest as text."""
    at = beside = 0
    for left, right in zip(_PART.findall(one[:1000]), _PART.findall(other[:1000]), strict=False):
        if left != right:
            if not (left[0].isdigit() and right[0].isdigit()):
                return -1 if one[at:] < other[beside:] else 1
            a, b = (len(left.lstrip("0")), left.lstrip("0")), (len(right.lstrip("0")), right.lstrip("0"))
            if a != b:
                return -1 if a < b else 1
        at, beside = at + len(left), beside + len(right)
    return (len(one) > len(other)) - (len(one) < len(other))


def _pair(values: list[Value]) -> list[str] | None:
    texts = [as_text(value) for value in values]
    return None if None in texts else [text for text in texts if text is not None]


def _compared(values: list[Value], accepted: tuple[int, ...]) -> Value:
    texts = _pair(values)
    return ERROR if texts is None else order(*texts) in accepted


def _versioncmp(values: list[Value]) -> Value:
    texts = _pair(values)
    return ERROR if texts is None else order(*texts)


def _in_range(values: list[Value]) -> Value:
    if UNDEFINED in values[1:]:
        return UNDEFINED
    if first_missing(values) is not None:
        return ERROR
    texts = _pair(values)
    if texts is None:
        return ERROR
    return order(texts[1], texts[0]) <= 0 <= order(texts[2], texts[0])


TABLE = table(
    vague("versioncmp(a, b)", "-1, 0 or 1 as version a comes before, with or after b.", 2, 2, _versioncmp),
    vague("versionGT(a, b)", "True if version a is later.", 2, 2, lambda v: _compared(v, (1,))),
    vague("versionGE(a, b)", "True if version a is not earlier.", 2, 2, lambda v: _compared(v, (0, 1))),
    vague("versionLT(a, b)", "True if version a is earlier.", 2, 2, lambda v: _compared(v, (-1,))),
    vague("versionLE(a, b)", "True if version a is not later.", 2, 2, lambda v: _compared(v, (-1, 0))),
    vague("versionEQ(a, b)", "True if the versions are the same.", 2, 2, lambda v: _compared(v, (0,))),
    eager("version_in_range(v, least, most)", "True if v is between the two.", 3, 3, _in_range),
)
