"""`_PARAM_`: one description, many values (gLite parametric jobs)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from broker_core.jdl.description import JobDescription
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.limits import Budget
from broker_core.jdl.syntax.rewrite import rewritten, rewritten_ad
from broker_core.jdl.syntax.tree import Ad, Expression, ListOf, Literal, Reference

MARK = "_PARAM_"
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_REAL = re.compile(r"-?[0-9]{1,18}\.[0-9]{1,18}(?:[eE][+-]?[0-9]{1,3})?")
_LARGEST = 2**63
_TEXTUAL = ("jobname", "arguments")
"""Attributes of which nothing follows but their text, whatever letters and digits stand in it."""
_LETTERS = re.compile(r"[A-Za-z0-9_+-]{1,100}")
_FIELDS = ("name", "executable", "arguments", "stdin", "stdout", "stderr")


VALUES_MAX = 1_000_000
"""Jobs of one sweep, at most."""


LINE_MAX = 10_000
"""Values that one line of a form or of the command line may make, at most."""
_RANGE = re.compile(r"\s*(-?\d{1,9})\s*(?:\.\.|-|–)\s*(-?\d{1,9})(?:\s*:\s*(\d{1,9}))?\s*")


def values_in_line(line: str) -> list[str]:
    """`1-10`, `0-100:5` (a step), or words divided by commas; empty if nothing is written.

    Raises ValueError, in words, for more than 10,000 values.
    """
    found = [value for part in line.split(",") for value in _part_of_line(part)]
    if len(found) > LINE_MAX:
        raise ValueError(f"{len(found):,} values; at most {LINE_MAX:,} at once.")
    return found


def is_range(text: str) -> bool:
    """True for `1-10` and `0-100:5`."""
    return _RANGE.fullmatch(text) is not None


def _part_of_line(part: str) -> list[str]:
    match = _RANGE.fullmatch(part)
    if match is None:
        return [part.strip()] if part.strip() else []
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1) or 1
    count = abs(last - first) // step + 1
    if count > LINE_MAX:
        raise ValueError(f"{part.strip()} makes {count:,} values; at most {LINE_MAX:,} at once.")
    sign = 1 if last >= first else -1
    return [str(first + sign * step * number) for number in range(count)]


def values(ad: Ad) -> list[str] | None:
    """The values of a parametric job; None if the ad is not one, or its Parameters cannot be understood.

    A number N counts from ParameterStart (0) in steps of ParameterStep (1) while below N. Of a list, start
    and step choose the items by their places, from 0. With ParameterFactor a number N is that of the values,
    as in DIRAC: each is the one before it times the factor, plus the step.
    """
    found = sequence(ad)
    return None if found is None else [str(value) for value in found]


def sequence(ad: Ad) -> Sequence[int | str] | None:
    """The values, as numbers where they are counted: not written down yet, however many they are."""
    node, factor = ad.get("parameters"), _factor(ad)
    start = _whole(ad, "parameterstart", 0)
    step = _whole(ad, "parameterstep", 1 if factor is None else 0)
    if node is None or start is None or step is None:
        return None
    if factor is not None and not isinstance(node, ListOf):
        return _multiplied(start, step, factor, counted(ad)) if counted(ad) <= VALUES_MAX else None
    if step == 0:
        return None
    if isinstance(node, ListOf):
        budget = Budget()
        items = [_item(item, ad, budget) for item in node.items]
        if None in items or start < 0:
            return None
        return [item for item in items[start::step] if item is not None]
    end = constant(node, ad)
    if type(end) is not int:
        return None
    return range(start, end, step) if counted(ad) <= VALUES_MAX else None


def counted(ad: Ad) -> int:
    """How many values a number in Parameters stands for, whether or not so many are allowed; 0 without."""
    node = ad.get("parameters")
    end = None if node is None or isinstance(node, ListOf) else constant(node, ad)
    start, step = _whole(ad, "parameterstart", 0), _whole(ad, "parameterstep", 1)
    if type(end) is int and _factor(ad) is not None:
        return max(0, end)
    if type(end) is not int or start is None or not step:
        return 0
    return max(0, -((start - end) // step))


def is_parametric(ad: Ad) -> bool:
    """True if JobType is, or has among others, Parametric."""
    node = ad.get("jobtype")
    words = node.items if isinstance(node, ListOf) else [node]
    return any(
        isinstance(word, Literal) and isinstance(word.value, str) and word.value.lower() == "parametric"
        for word in words
    )


def value_in_environment(ad: Ad, value: str) -> tuple[tuple[str, str], ...]:
    """What the job of one value finds in its environment: ParameterValue, in a parametric job."""
    return (("ParameterValue", value),) if value and is_parametric(ad) else ()


def _factor(ad: Ad) -> int | float | None:
    """ParameterFactor, where it is a number that changes something."""
    node = ad.get("parameterfactor")
    value = None if node is None else constant(node, ad)
    if isinstance(value, bool) or not isinstance(value, int | float) or value == 1:
        return None
    return int(value) if float(value).is_integer() else value


def _multiplied(start: int, step: int, factor: int | float, count: int) -> Sequence[int | str] | None:
    """The values with a factor; None where they grow beyond what a whole number of a description holds."""
    found: list[int | str] = []
    value: int | float = start
    for _ in range(count):
        if not abs(value) < _LARGEST:
            return None
        found.append(value if isinstance(value, int) else repr(value))
        value = value * factor + step
    return found


def _whole(ad: Ad, key: str, default: int) -> int | None:
    node = ad.get(key)
    value = default if node is None else constant(node, ad)
    return value if type(value) is int else None


def _item(node: Expression, ad: Ad, budget: Budget) -> str | None:
    if isinstance(node, Reference) and node.scope is None:
        return node.name
    value = constant(node, ad, budget)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def substituted(ad: Ad, value: str) -> Ad:
    """The ad with `value` in place of every `_PARAM_`, in strings and names; places stay as they were.

    A `_PARAM_` that stands alone as a name becomes a number if the value is one, else a string: a value can
    never add statements of its own.
    """
    return rewritten_ad(ad, partial(_changed, value=value))


def is_textual(ad: Ad, text: str, value: str) -> bool:
    """True if `with_value` makes of the description what a check of its text with the value would."""
    if not _LETTERS.fullmatch(value):
        return False
    words = [node.value for key in _TEXTUAL if isinstance(node := ad.get(key), Literal)]
    return sum(word.count(MARK) for word in words if isinstance(word, str)) == text.count(MARK)


def with_value(description: JobDescription, value: str) -> JobDescription:
    """The description of one job of a sweep, from the one that was checked with `_PARAM_` in it.

    Quick: nothing is parsed or checked again, and the tree stays that of the sweep.
    """
    changed = {name: getattr(description, name).replace(MARK, value) for name in _FIELDS}
    return replace(
        description,
        **changed,
        input_sandbox=tuple(entry.replace(MARK, value) for entry in description.input_sandbox),
        renamed=tuple(
            (old.replace(MARK, value), new.replace(MARK, value)) for old, new in description.renamed
        ),
        output_sandbox=tuple(entry.replace(MARK, value) for entry in description.output_sandbox),
        environment=tuple((name, text.replace(MARK, value)) for name, text in description.environment)
        + value_in_environment(description.ad, value),
    )


def _changed(node: Literal | Reference, value: str) -> Expression:
    return _literal(node, value) if isinstance(node, Literal) else _reference(node, value)


def _literal(node: Literal, value: str) -> Literal:
    if isinstance(node.value, str) and MARK in node.value:
        return Literal(node.value.replace(MARK, value), start=node.start, end=node.end)
    return node


def _reference(node: Reference, value: str) -> Expression:
    if node.name == MARK and node.scope is None:
        return Literal(as_value(value), start=node.start, end=node.end)
    scope = rewritten(node.scope, partial(_changed, value=value)) if node.scope else None
    name = node.name.replace(MARK, value)
    return Reference(name, scope, node.absolute, node.quoted, start=node.start, end=node.end)


def as_value(value: str) -> int | float | str:
    """What `_PARAM_` that stands alone becomes: a number if it is one, else a string."""
    if _INTEGER.fullmatch(value):
        return int(value)
    return float(value) if _REAL.fullmatch(value) else value
