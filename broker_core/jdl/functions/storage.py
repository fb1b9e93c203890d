"""Functions that gLite's broker adds: storage close to a computing element, groups, and past success."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import AdValue, Value, as_expression
from broker_core.jdl.functions.function import Function, Late, charged, strict, table
from broker_core.jdl.functions.regexp import regexp_member
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

_CLOSE = "gluecesebindgroupseuniqueid"
_NOTHING = ("role=null", "capability=null")


def close_storage(evaluation: Any, names: Value) -> Value:
    """The ads of storage elements with these names, as far as the surroundings know them."""
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list):
        return names if names is UNDEFINED else ERROR
    known = evaluation.surroundings.storage
    return [
        evaluation.adopted(as_expression({"GlueSEUniqueID": name, **known.get(name, {})}))
        for name in names
        if isinstance(name, str)
    ]


def storage(evaluation: Any) -> Value:
    """`other.storage`: an ad whose CloseSEs are the storage elements that the resource says are close."""
    close = close_storage(evaluation, (evaluation.other or {}).get(_CLOSE, UNDEFINED))
    items = close if isinstance(close, list) else []
    return evaluation.adopted(as_expression({"CloseSEs": items}))


def _tested(evaluation: Any, ads: Sequence[AdValue], test: Late) -> Iterator[tuple[AdValue, Value]]:
    """Each of the ads, with what the test is where `target.` reads that ad."""
    before = evaluation.target
    try:
        for one in ads:
            evaluation.target = one
            yield one, truth(test())
    finally:
        evaluation.target = before


def _over_ads(
    body: Callable[[Iterator[tuple[AdValue, Value]]], Value],
) -> Callable[[Any, Sequence[Late]], Value]:
    def call(evaluation: Any, arguments: Sequence[Late]) -> Value:
        ads = arguments[0]()
        if not isinstance(ads, list) or not all(isinstance(one, AdValue) for one in ads):
            return UNDEFINED if ads is UNDEFINED else ERROR
        return body(_tested(evaluation, ads, arguments[1]))

    return call


def _retrieve(evaluation: Any, arguments: Sequence[Late]) -> Value:
    return close_storage(evaluation, arguments[0]())


def _success(evaluation: Any, arguments: Sequence[Late]) -> Value:
    name = arguments[0]()
    if not isinstance(name, str):
        return UNDEFINED if name is UNDEFINED else ERROR
    return evaluation.surroundings.successes.get(name, UNDEFINED)


def _fqan_member(values: list[Value]) -> Value:
    wanted, items = values
    items = [items] if isinstance(items, str) else items
    if not isinstance(wanted, str) or not isinstance(items, list):
        return ERROR
    return any(isinstance(item, str) and _fqan(item) == _fqan(wanted) for item in items)


def _fqan(text: str) -> str:
    """A group and role in one spelling: `VO:x` is `/x`, and parts that say NULL are left out."""
    kind, colon, rest = text.strip().partition(":")
    name = rest if colon and kind.lower() in ("vo", "voms") else text.strip()
    parts = [part for part in name.split("/") if part and part.lower() not in _NOTHING]
    return "/" + "/".join(parts)


TABLE = table(
    Function(
        "anyMatch",
        "anyMatch(ads, test)",
        "True if the test holds for one of the ads; target. reads it.",
        2,
        2,
        _over_ads(lambda found: any(held is True for _, held in found)),
    ),
    Function(
        "allMatch",
        "allMatch(ads, test)",
        "True if the test holds for all of the ads; target. reads each.",
        2,
        2,
        _over_ads(lambda found: all(held is True for _, held in found)),
    ),
    Function(
        "whichMatch",
        "whichMatch(ads, test)",
        "Those ads for which the test holds; target. reads each.",
        2,
        2,
        _over_ads(lambda found: [one for one, held in found if held is True]),
    ),
    Function(
        "retrieveCloseSEsInfo",
        "retrieveCloseSEsInfo(names)",
        "The ads of storage elements, by their names.",
        1,
        1,
        _retrieve,
    ),
    Function(
        "successFraction",
        "successFraction(ce)",
        "The part of the jobs there that ended well lately, 0 to 1.",
        1,
        1,
        _success,
    ),
    strict("fqanMember(fqan, list)", "True if a group and role is in a list of them.", 2, 2, _fqan_member),
    charged(
        "listAttrRegEx(pattern, list)",
        "True if the pattern occurs in an item of the list.",
        2,
        2,
        regexp_member,
    ),
)
