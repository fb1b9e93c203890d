"""The listed differences from the C++ ClassAd library are as listed, and every function is accounted for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.functions.known import FUNCTIONS
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tree import Missing
from tests.jdl.differences import LISTED
from tests.jdl.expressions_made import FUNCTIONS as GENERATED
from tests.jdl.library import classad2

CASES = [case for group in LISTED.values() for case in group["cases"]]
ELSEWHERE = {"time", "debug", "unresolved", "abstime", "reltime", "evalineachcontext", "countmatches"}
ELSEWHERE |= {"split", "splitusername", "splitslotname"}
"""Functions that need names, a clock or cases of their own: see the tests of surroundings and the oracle."""


def meant(text: str) -> Any:
    return text if text in ("error", "undefined") else json.loads(text)


def plain(value: Any) -> Any:
    if isinstance(value, classad2.Value):
        return "error" if value == classad2.Value.Error else "undefined"
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.value if isinstance(value, Missing) else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text']} in [{case['own']}]")
def test_each_listed_difference_is_as_listed(case: dict[str, str]) -> None:
    tree, wrong = parse_expression(case["text"])
    assert tree is not None, wrong
    reference = classad2.ClassAd(f"[{case['own']}]")
    reference["Asked"] = classad2.ExprTree(case["text"])
    mine, other = plain(evaluate(tree, parse(case["own"]).ad)), plain(reference.eval("Asked"))
    assert (mine, other) == (meant(case["ours"]), meant(case["theirs"]))
    assert mine != other or type(mine) is not type(other)


def test_each_group_has_its_reason() -> None:
    assert all(group["reason"].endswith(".") for group in LISTED.values())


def test_every_function_is_generated_or_listed() -> None:
    listed = " ".join(case["text"].lower() for case in CASES)
    compared = {name.lower() for name in GENERATED} | ELSEWHERE
    assert [name for name in FUNCTIONS if name not in compared and f"{name}(" not in listed] == []
