"""The evaluator agrees with the C++ ClassAd library; `differences.toml` lists where it does not, and why."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from typing import Any

import classad2
import pytest

from broker_core.jdl.evaluate import evaluate
from broker_core.jdl.parse import parse, parse_expression
from broker_core.jdl.times import Moment, Span
from broker_core.jdl.tree import ERROR, UNDEFINED, Ad
from tests.jdl.expressions_made import expression

OWN = 'Own = 5; Twice = Own * 2; Text = "abc";'

TIMES = [
    'absTime("2024-01-02T03:04:05+01:00")',
    "absTime(1000)",
    "absTime(1000, 3600)",
    'int(absTime("1970-01-01T00:00:10Z"))',
    'string(absTime("2024-01-02T03:04:05+01:00"))',
    'absTime("1970-01-01T00:00:10Z") - absTime("1970-01-01T00:00:05Z")',
    'absTime("1970-01-01T00:00:10Z") + relTime(5)',
    'absTime("1970-01-01T00:00:10Z") < absTime("1970-01-01T00:00:11Z")',
    'absTime("1970-01-01T00:00:10Z") == absTime("1970-01-01T01:00:10+01:00")',
    'absTime("1970-01-01T00:00:10Z") =?= absTime("1970-01-01T01:00:10+01:00")',
    'relTime("1+02:03:04")',
    'relTime("02:03")',
    "relTime(3600.5)",
    "string(relTime(90061))",
    "string(relTime(-5))",
    "real(relTime(1.5))",
    "bool(relTime(5))",
    "relTime(5) + relTime(6)",
    "relTime(5) * 2",
    "relTime(5) / 2",
    "relTime(5) < relTime(6)",
    "relTime(5) < 6",
    "relTime(5) == 5",
    "-relTime(5)",
    "relTime(5) ? 1 : 2",
    'formatTime(1700000000, "%j %U %w %x %X %y %Z %% %a %A %b %B %d %H %I %m %M %p %c")',
    'formatTime(absTime("1970-01-01T00:00:10Z"), "%S")',
]


def ours(value: Any) -> Any:
    if value is ERROR or value is UNDEFINED:
        return value.value
    if isinstance(value, list):
        return [ours(item) for item in value]
    if isinstance(value, Span):
        return ours(value.seconds)
    if isinstance(value, Moment):
        value = datetime.fromtimestamp(value.seconds, UTC)
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
    try:
        return ours(evaluate(tree, own)), theirs(reference.eval("Asked"))
    except classad2.ClassAdException:
        # So the library says that an error came out where it wanted to make a value of its own.
        return ours(evaluate(tree, own)), "error"


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


@pytest.mark.parametrize("text", TIMES)
def test_times_have_the_values_of_the_reference_library(text: str) -> None:
    mine, other = compare(text, own_ad(), classad2.ClassAd(f"[{OWN}]"))
    assert mine == other


@pytest.mark.parametrize("sign", ["<<", ">>", ">>>"])
@pytest.mark.parametrize("amount", [1, 5, 62, 63])
def test_shifts_have_the_values_of_the_reference_library(sign: str, amount: int) -> None:
    for number in (0, 1, 8, -1, -8, 2**62 + 3):
        mine, other = compare(f"{number} {sign} {amount}", own_ad(), classad2.ClassAd(f"[{OWN}]"))
        assert mine == other, number


@pytest.mark.parametrize("text", ["Text", "Twice", "[a = 1; b = a + 1].b", "{1, 2}[1]"])
def test_references_and_subscripts_have_the_values_of_the_reference_library(text: str) -> None:
    mine, other = compare(text, own_ad(), classad2.ClassAd(f"[{OWN}]"))
    assert mine == other
