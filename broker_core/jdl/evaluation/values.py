"""The values that expressions have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from broker_core.jdl.syntax.tree import ERROR, UNDEFINED, Ad, Entry, Expression, ListOf, Literal, Missing

Value = Any
"""bool, int, float, str, Missing, list of values, or AdValue."""

TEXT_MAX = 1 << 16
"""Characters of a string that an expression may make; a longer one is an error."""
ITEMS_MAX = 10_000
"""Items of a list that an expression may make."""


@dataclass(slots=True)
class AdValue:
    """An ad as a value, with the place where its names are looked up."""

    ad: Ad
    frame: Any


def as_expression(value: Value) -> Expression:
    """The tree whose value is `value`: of a plain value, a list, a mapping of names, or an ad."""
    if isinstance(value, AdValue):
        return value.ad
    if isinstance(value, Mapping):
        entries = {name.lower(): Entry(name, as_expression(item)) for name, item in value.items()}
        return Ad(entries)
    if isinstance(value, list | tuple):
        return ListOf([as_expression(item) for item in value])
    return Literal(value)


def is_number(value: Value) -> bool:
    """True for whole and real numbers; truth values are none."""
    return type(value) is int or type(value) is float


def first_missing(values: list[Value]) -> Missing | None:
    """`error` if one of the values is, else `undefined` if one is, else None (strict functions)."""
    found: Missing | None = None
    for value in values:
        if value is ERROR:
            return Missing.ERROR
        if value is UNDEFINED:
            found = Missing.UNDEFINED
    return found


def wrapped(value: int) -> int:
    """A whole number in 64 bits, as the arithmetic of ClassAds has it."""
    if -(1 << 63) <= value < 1 << 63:
        return value
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def bounded(text: str) -> Value:
    """The string, or `error` if it is longer than an expression may make it."""
    return text if len(text) <= TEXT_MAX else ERROR
