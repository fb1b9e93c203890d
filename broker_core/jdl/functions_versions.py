"""Comparing version numbers such as 1.2.10."""

from __future__ import annotations

import re

from broker_core.jdl.function import strict, table
from broker_core.jdl.tree import ERROR
from broker_core.jdl.values import Value

_PART = re.compile(r"[0-9]+|[^0-9]+")


def _key(text: str) -> list[tuple[int, int, str]]:
    parts = _PART.findall(text[:1000])
    return [(1, len(p.lstrip("0")), p.lstrip("0")) if p[0].isdigit() else (0, 0, p) for p in parts]


def order(one: str, other: str) -> int:
    """-1, 0 or 1; runs of digits compare as numbers, the rest as text."""
    for left, right in zip(_PART.findall(one[:1000]), _PART.findall(other[:1000]), strict=False):
        if left == right:
            continue
        if left[0].isdigit() and right[0].isdigit():
            a, b = (len(left.lstrip("0")), left.lstrip("0")), (len(right.lstrip("0")), right.lstrip("0"))
            if a != b:
                return -1 if a < b else 1
            continue
        return -1 if left < right else 1
    return (len(one) > len(other)) - (len(one) < len(other))


def _compared(values: list[Value], accepted: tuple[int, ...]) -> Value:
    if not all(isinstance(value, str) for value in values):
        return ERROR
    return order(values[0], values[1]) in accepted


def _versioncmp(values: list[Value]) -> Value:
    return order(*values) if all(isinstance(value, str) for value in values) else ERROR


def _in_range(values: list[Value]) -> Value:
    if not all(isinstance(value, str) for value in values):
        return ERROR
    return order(values[1], values[0]) <= 0 <= order(values[2], values[0])


TABLE = table(
    strict("versioncmp(a, b)", "-1, 0 or 1 as version a comes before, with or after b.", 2, 2, _versioncmp),
    strict("versionGT(a, b)", "True if version a is later.", 2, 2, lambda v: _compared(v, (1,))),
    strict("versionGE(a, b)", "True if version a is not earlier.", 2, 2, lambda v: _compared(v, (0, 1))),
    strict("versionLT(a, b)", "True if version a is earlier.", 2, 2, lambda v: _compared(v, (-1,))),
    strict("versionLE(a, b)", "True if version a is not later.", 2, 2, lambda v: _compared(v, (-1, 0))),
    strict("versionEQ(a, b)", "True if the versions are the same.", 2, 2, lambda v: _compared(v, (0,))),
    strict("version_in_range(v, least, most)", "True if v is between the two.", 3, 3, _in_range),
)
