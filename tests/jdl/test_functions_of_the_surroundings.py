"""Time, chance, users, and expressions about expressions."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.jdl.evaluation.environment import EvaluationEnvironment
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

THERE = EvaluationEnvironment(
    chance=lambda: 0.5,
    homes={"ada": "/home/ada"},
    maps={"groups": {"ada": "physics, chemistry"}},
    storage={
        "se.near": {"GlueSAStateAvailableSpace": 500, "GlueSEStatus": "Production"},
        "se.full": {"GlueSAStateAvailableSpace": 0},
    },
    successes={"ce:2119/jobmanager-pbs-q": 0.75},
)
CLOSE = {"gluecesebindgroupseuniqueid": ["se.near", "se.full"], "gluecestatefreecpus": 4}


def value(text: str, own: str = "", other: Any = None) -> Any:
    tree, wrong = parse_expression(text)
    assert tree is not None, wrong
    return evaluate(tree, parse(own).ad, other, now=1_700_000_000, surroundings=THERE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time()", 1_700_000_000),
        ("random(10)", 5),
        ("random()", 0.5),
        ("random(0)", ERROR),
        ('random("x")', ERROR),
        ('userHome("ada")', "/home/ada"),
        ('userHome("bob")', UNDEFINED),
        ('userHome("bob", "/tmp")', "/tmp"),
        ('userMap("groups", "ada")', "physics, chemistry"),
        ('userMap("groups", "ada", "Chemistry")', "chemistry"),
        ('userMap("groups", "ada", "music")', "physics"),
        ('userMap("groups", "bob", "music", "none")', "none"),
        ('formatTime(time(), "%Y-%m-%d %H:%M:%S")', "2023-11-14 22:13:20"),
        ("formatTime()", "Tue Nov 14 22:13:20 2023"),
        ('string(absTime("2024-01-02T03:04:05Z") + relTime("1+00:00:01"))', "2024-01-03T03:04:06-00:00"),
        ('absTime("2024-02-30T00:00:00Z")', ERROR),
        ("debug(3)", 3),
    ],
)
def test_the_caller_says_what_the_world_is_like(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "own", "expected"),
    [
        ('eval("Own + 1")', "Own = 5;", 6),
        ('eval("1 +")', "", ERROR),
        ("unparse(Own)", "Own = a + 3;", "a + 3"),
        ("unresolved(Own)", "Own = a + b + Has; Has = 1;", "a,b"),
        ('unresolved(Own, "B")', "Own = a + b;", True),
        ("countMatches(a > Least, {[a = 1], [a = 2], [b = 3]})", "Least = 1;", 1),
        ("eval(Own)", 'Own = "eval(Own)";', ERROR),
    ],
)
def test_expressions_about_expressions(text: str, own: str, expected: Any) -> None:
    assert value(text, own) == expected


def test_reading_texts_again_and_again_is_bounded() -> None:
    text = '"' + "1 + " * 5000 + '1"'
    assert value("+".join(["eval(T)"] * 200), f"T = {text};") is ERROR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anyMatch(other.storage.CloseSEs, target.GlueSAStateAvailableSpace > 100)", True),
        ("allMatch(other.storage.CloseSEs, target.GlueSAStateAvailableSpace > 100)", False),
        ("allMatch(other.storage.CloseSEs, isUndefined(target.Nothing))", True),
        ("anyMatch(other.storage.CloseSEs, target.GlueSEStatus == 5)", False),
        ("size(whichMatch(other.storage.CloseSEs, target.GlueSAStateAvailableSpace > 100))", 1),
        (
            "whichMatch(other.storage.CloseSEs, target.GlueSAStateAvailableSpace > 1)[0].GlueSEUniqueID",
            "se.near",
        ),
        ("anyMatch(other.storage.CloseSEs, other.GlueCEStateFreeCPUs == 4)", True),
        ("anyMatch(other.storage.CloseSEs, true) && target.GlueCEStateFreeCPUs == 4", True),
        ('retrieveCloseSEsInfo("se.full")[0].GlueSAStateAvailableSpace', 0),
        ('retrieveCloseSEsInfo({"se.unknown"})[0].GlueSEUniqueID', "se.unknown"),
        ("anyMatch({[space = 5], [space = 9]}, target.space > Least)", True),
        ("anyMatch(missing, true)", UNDEFINED),
        ("anyMatch({1, 2}, true)", ERROR),
        ("anyMatch({}, true)", False),
        ("allMatch({}, false)", True),
        ('fqanMember("/atlas/Role=production", {"VOMS:/atlas/Role=production"})', True),
        ('fqanMember("/atlas/Role=NULL/Capability=NULL", {"VO:atlas"})', True),
        ('fqanMember("/atlas", {"VO:cms"})', False),
        ('listAttrRegEx("^se\\\\.n", other.GlueCESEBindGroupSEUniqueID)', True),
        ('successFraction("ce:2119/jobmanager-pbs-q")', 0.75),
        ('successFraction("elsewhere")', UNDEFINED),
    ],
)
def test_the_functions_of_grid_brokers(text: str, expected: Any) -> None:
    assert value(text, "Least = 7;", CLOSE) == expected
