"""The evaluator agrees with the C++ ClassAd library; `differences.toml` lists where it does not, and why."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.evaluation.times import Moment, Span
from broker_core.jdl.evaluation.values import AdValue
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED, Ad, Call, walk
from broker_core.jdl.syntax.write import expression as written
from broker_core.jdl.syntax.write import value_text
from tests.jdl.ads_made import NAMES, ad
from tests.jdl.differences import LISTED
from tests.jdl.expressions_made import expression
from tests.jdl.library import classad2

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


Target = tuple[Mapping[str, Any] | None, classad2.ClassAd | None]
"""A resource as our evaluator gets it, and as the library does."""
NOBODY: Target = (None, None)
MAY_DIFFER = {name for group in LISTED.values() for name in group.get("functions", ())}


def ours(value: Any) -> Any:
    if value is ERROR or value is UNDEFINED:
        return value.value
    if isinstance(value, list):
        return [ours(item) for item in value]
    if isinstance(value, AdValue):
        return "ad", sorted(value.ad.entries)
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
    if isinstance(value, classad2.ClassAd):
        return "ad", sorted(name.lower() for name in value)
    return "nan" if isinstance(value, float) and math.isnan(value) else (type(value).__name__, value)


def own_ad() -> Ad:
    ad = parse(OWN).ad
    assert ad is not None
    return ad


def compare(text: str, own: Ad, reference: classad2.ClassAd, target: Target = NOBODY) -> tuple[Any, Any]:
    tree, wrong = parse_expression(text)
    assert tree is not None, (text, wrong)
    mine = ours(evaluate(tree, own, target[0]))
    try:
        return mine, theirs(classad2.ExprTree(text).eval(reference, target[1]))
    except classad2.ClassAdException:
        # So the library says that an error came out where it wanted to make a value of its own.
        return mine, "error"


def listed(text: str, own: Ad, reference: classad2.ClassAd, target: Target) -> bool:
    """True if a part of the expression or of its ad differs that `differences.toml` lists with its reason."""
    tree, _ = parse_expression(text)
    assert tree is not None
    for part in (*walk(tree), *walk(own)):
        if isinstance(part, Call) and part.function in MAY_DIFFER:
            mine, other = compare(written(part), own, reference, target)
            if mine != other:
                return True
    return False


def resource(chance: random.Random) -> Target:
    """The values of a generated ad as a resource, for both."""
    text = ad(chance)
    tree = parse(text).ad
    assert tree is not None
    # A bare name that the own ad lacks is looked for in the other ad by the library, as old descriptions did.
    names = {f"at{key}": evaluate(entry.value, tree) for key, entry in tree.entries.items()}
    plain = {key: value for key, value in names.items() if not isinstance(value, AdValue)}
    told = "; ".join(f"{key} = {value_text(value)}" for key, value in plain.items())
    return plain, classad2.ClassAd(f"[{told}]")


@pytest.mark.parametrize("seed", range(5))
def test_generated_expressions_have_the_values_of_the_reference_library(seed: int, soak: bool) -> None:
    chance = random.Random(seed)
    names = [*NAMES, "Deep.inner", "Late.second", *(f"TARGET.At{name}" for name in NAMES)]
    different = []
    for _ in range(2_000 if soak else 60):
        written_ad = ad(chance)
        own, reference = parse(written_ad).ad or Ad(), classad2.ClassAd(f"[{written_ad}]")
        target = resource(chance)
        for _ in range(25):
            text = expression(chance, chance.randint(1, 3), names)
            mine, other = compare(text, own, reference, target)
            if mine != other and not listed(text, own, reference, target):
                different.append((text, written_ad, target[0], mine, other))
    assert different == []


@pytest.mark.parametrize("text", TIMES)
def test_times_have_the_values_of_the_reference_library(text: str) -> None:
    mine, other = compare(text, own_ad(), classad2.ClassAd(f"[{OWN}]"))
    assert mine == other


@pytest.mark.parametrize("first", ["a", "a + Own", "a > 1", "undefined", "error", "1", "b ?: 7"])
@pytest.mark.parametrize(
    "ads",
    [
        "{[a = 1], [a = 2; b = 3]}",
        "{}",
        "undefined",
        "error",
        "[a = 1]",
        "1",
        '"x"',
        "{[a = 1], 2, undefined}",
    ],
)
@pytest.mark.parametrize("function", ["evalInEachContext", "countMatches"])
def test_expressions_in_other_ads_have_the_values_of_the_reference_library(
    function: str, ads: str, first: str
) -> None:
    """Written out, not generated: where a resource is there too, the library forgets errors in the list."""
    mine, other = compare(f"{function}({first}, {ads})", own_ad(), classad2.ClassAd(f"[{OWN}]"))
    assert mine == other


@pytest.mark.parametrize(
    "text", ['"a b,c"', '"u@h"', '"a@b@c"', '"@"', '""', '" "', "1", "undefined", "error", "{}"]
)
@pytest.mark.parametrize("function", ["split", "splitUserName", "splitSlotName"])
def test_texts_are_split_as_by_the_reference_library(function: str, text: str) -> None:
    """Written out, not generated: the library crashes where an attribute of such a list is read."""
    mine, other = compare(f"{function}({text})", own_ad(), classad2.ClassAd(f"[{OWN}]"))
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
