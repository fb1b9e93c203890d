"""Functions of lists."""

from __future__ import annotations

from broker_core.jdl.evaluation.operators import arithmetic, binary, compare
from broker_core.jdl.evaluation.values import AdValue, Value, is_number
from broker_core.jdl.functions.function import eager, strict, table, vague
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

_SIGNS = frozenset({"<", "<=", "==", "!=", ">=", ">", "is", "isnt"})
_SPELT = {"is": "=?=", "isnt": "=!="}


def _member(values: list[Value]) -> Value:
    wanted, items = values
    if not isinstance(items, list) or isinstance(wanted, list | AdValue):
        return ERROR
    return any(binary("==", wanted, item) is True for item in items)


def _identical_member(values: list[Value]) -> Value:
    wanted, items = values
    if items is UNDEFINED:
        return UNDEFINED
    if not isinstance(items, list) or isinstance(wanted, list | AdValue):
        return ERROR
    return any(type(wanted) is type(item) and wanted == item for item in items)


def _compared(values: list[Value]) -> list[Value] | Value:
    sign, items, wanted = values
    if sign is UNDEFINED:
        return UNDEFINED
    if not isinstance(sign, str) or sign.lower() not in _SIGNS:
        return ERROR
    if not isinstance(items, list) or wanted is ERROR:
        return ERROR
    return [binary(_SPELT.get(sign.lower(), sign), item, wanted) for item in items]


def _any_compare(values: list[Value]) -> Value:
    results = _compared(values)
    return any(result is True for result in results) if isinstance(results, list) else results


def _all_compare(values: list[Value]) -> Value:
    results = _compared(values)
    return all(result is True for result in results) if isinstance(results, list) else results


def _size(values: list[Value]) -> Value:
    value = values[0]
    if isinstance(value, str | list):
        return len(value)
    return len(value.ad.entries) if isinstance(value, AdValue) else ERROR


def _numbers(values: list[Value]) -> list[Value] | Value:
    items = values[0]
    if not isinstance(items, list):
        return ERROR
    there = [item for item in items if item is not UNDEFINED]
    return there if all(is_number(item) or isinstance(item, bool) for item in there) else ERROR


def _sum(values: list[Value]) -> Value:
    items = _numbers(values)
    if not isinstance(items, list):
        return items
    total: Value = items[0] if items else 0
    for item in items[1:]:
        total = arithmetic("+", total, item)
    return total


def _average(values: list[Value]) -> Value:
    items = _numbers(values)
    if not isinstance(items, list):
        return items
    return float(_sum(values)) / len(items) if items else 0


def _extreme(sign: str, values: list[Value]) -> Value:
    items = _numbers(values)
    if not isinstance(items, list):
        return items
    best: Value = UNDEFINED
    for item in items:
        if best is UNDEFINED or compare(sign, item, best) is True:
            best = item
    real = any(isinstance(item, float) for item in items)
    return float(best) if real else best


TABLE = table(
    vague("member(x, list)", "True if the list has an item equal to x; case does not matter.", 2, 2, _member),
    vague("isMember(x, list)", "The same as member.", 2, 2, _member),
    eager(
        "identicalMember(x, list)",
        "True if the list has x itself, same type and case.",
        2,
        2,
        _identical_member,
    ),
    eager("anyCompare(sign, list, x)", "True if `item sign x` holds for an item.", 3, 3, _any_compare),
    eager("allCompare(sign, list, x)", "True if `item sign x` holds for all items.", 3, 3, _all_compare),
    strict("size(x)", "Number of items, characters or attributes.", 1, 1, _size),
    strict("sum(list)", "Sum of the items.", 1, 1, _sum),
    strict("avg(list)", "Mean of the items.", 1, 1, _average),
    strict("min(list)", "The smallest item.", 1, 1, lambda v: _extreme("<", v)),
    strict("max(list)", "The largest item.", 1, 1, lambda v: _extreme(">", v)),
)
