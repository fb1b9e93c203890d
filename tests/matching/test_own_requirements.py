"""A match holds in both directions (CB-MM-01): over columns as by plain evaluation of both ads."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.matching.exact import admits, fits
from broker_core.matching.match import match
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from tests.matching.made import job, resource

_LEAVES = (
    "other.CpuNumber", "other.Size", "other.Group", "other.Missing", "GlueHostMainMemoryRAMSize",
    "GlueCEName", "GlueCEStateFreeCPUs", "self.GlueHostMainMemoryRAMSize", "Absent", "1", "400", '"a"',
    "true", "other.Need",
)  # fmt: skip
_SIGNS = ("&&", "||", "==", "!=", "<", ">=", "+", "-", "=?=")
_JOBS = (
    "",
    "Size = 512;",
    'Group = "a"; Size = 1;',
    "Need = other.GlueHostMainMemoryRAMSize; CpuNumber = 2;",
)


def _expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(_LEAVES)
    if chance.random() < 0.1:
        return f"!({_expression(chance, depth - 1)})"
    sides = [_expression(chance, depth - 1) for _ in range(2)]
    return f"({sides[0]} {chance.choice(_SIGNS)} {sides[1]})"


def _resources(chance: random.Random, count: int) -> list[Resource]:
    texts: list[object] = [_expression(chance, 3) for _ in range(3)] + [None, True, False, "(1 +", 7]
    made = []
    for number in range(count):
        known = {"GlueHostMainMemoryRAMSize": chance.choice((1, 400, 512)), "GlueCEName": chance.choice("ab")}
        text = chance.choice(texts)
        more = known if text is None else {**known, "Requirements": text}
        made.append(replace(resource(f"s{number}", 4, chance.randint(0, 4)), attributes=more))
    return made


def check(seed: int) -> None:
    chance = random.Random(seed)
    resources = _resources(chance, chance.choice((1, 6, 30)))
    pool = Pool.of(resources)
    for text in _JOBS:
        one = job(text)
        found = {candidate.resource.ce for candidate in match(one, pool).candidates}
        assert found == {each.ce for each in resources if fits(one, each)}, text


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_columns_and_plain_evaluation_agree(seed: int) -> None:
    check(seed)


@pytest.mark.parametrize(
    ("wanted", "text", "held"),
    [
        ("other.CpuNumber <= 2", "", True),
        ("other.CpuNumber <= 2", "CpuNumber = 4;", False),
        ('other.Group == "phys"', 'Group = "phys";', True),
        ('other.Group == "phys"', "", False),
        ("other.Memory <= GlueHostMainMemoryRAMSize", "Memory = 512;", True),
        ("other.Memory <= self.GlueHostMainMemoryRAMSize", "Memory = 513;", False),
        ("other.WallTime <= 3600", 'WallTime = "2h";', False),
        ('Member("x", other.Words)', 'Words = {"x"};', True),
        ('eval("true")', "", False),
        ("not an expression", "", False),
    ],
)
def test_a_resource_has_a_say(wanted: str, text: str, held: bool) -> None:
    here = replace(resource(total=8), attributes={"Requirements": wanted, "GlueHostMainMemoryRAMSize": 512})
    found = match(job(text), [here])
    assert (bool(found.candidates), admits(here, job(text))) == (held, held)
    (told,) = [clause for clause in found.explain(0) if clause.text == "its own Requirements"]
    assert wanted in told.explanation


def test_what_a_resource_wants_follows_its_counts_and_its_changes() -> None:
    one = job()
    here = replace(resource(total=4, free=0), attributes={"Requirements": "GlueCEStateFreeCPUs > 0"})
    pool = Pool.of([here])
    assert not match(one, pool).candidates
    pool.free[0] = 1
    assert match(one, pool).candidates
    pool.columns.put(here.ce, here.site, {"requirements": "false"})
    assert not match(one, pool).candidates


def test_where_no_resource_has_a_say_nothing_is_told() -> None:
    found = match(job(), [resource()])
    assert all(clause.text != "its own Requirements" for clause in found.explain(0))
