"""The evaluator agrees with the C++ ClassAd library.

Differences kept out of the comparison, each on purpose: there, `?:` binds closer than a sign before it
and cannot be followed by one; the amount of a shift may be negative there, with whatever the processor makes
of it; ads have no text here; `versioncmp` is only -1, 0 or 1 here.
"""

from __future__ import annotations

import math
import random
from typing import Any

import classad2
import pytest

from broker_core.jdl.evaluate import evaluate
from broker_core.jdl.parse import parse, parse_expression
from broker_core.jdl.tree import ERROR, UNDEFINED, Ad
from tests.jdl.expressions_made import expression

OWN = 'Own = 5; Twice = Own * 2; Text = "abc";'


def ours(value: Any) -> Any:
    if value is ERROR or value is UNDEFINED:
        return value.value
    if isinstance(value, list):
        return [ours(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else (type(value).__name__, value)


def theirs(value: Any) -> Any:
    if isinstance(value, classad2.Value):
        return "error" if value == classad2.Value.Error else "undefined"
    if isinstance(value, list):
        return [theirs(item.eval() if isinstance(item, classad2.ExprTree) else item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else (type(value).__name__, value)


def own_ad() -> Ad:
    ad = parse(OWN).ad
    assert ad is not None
    return ad


def compare(text: str, own: Ad, reference: classad2.ClassAd) -> tuple[Any, Any]:
    tree, wrong = parse_expression(text)
    assert tree is not None, (text, wrong)
    reference["Asked"] = classad2.ExprTree(text)
    return ours(evaluate(tree, own)), theirs(reference.eval("Asked"))


@pytest.mark.parametrize("seed", range(4))
def test_generated_expressions_have_the_values_of_the_reference_library(seed: int, soak: bool) -> None:
    chance = random.Random(seed)
    own, reference = own_ad(), classad2.ClassAd(f"[{OWN}]")
    different = []
    for _ in range(50_000 if soak else 1500):
        text = expression(chance, chance.randint(1, 3))
        mine, other = compare(text, own, reference)
        if mine != other:
            different.append((text, mine, other))
    assert different == []


@pytest.mark.parametrize("text", ["Text", "Twice", "[a = 1; b = a + 1].b", "{1, 2}[1]"])
def test_references_and_subscripts_have_the_values_of_the_reference_library(text: str) -> None:
    mine, other = compare(text, own_ad(), classad2.ClassAd(f"[{OWN}]"))
    assert mine == other
