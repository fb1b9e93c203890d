"""Whole columns at once give what the exact evaluator gives for each resource."""

from __future__ import annotations

import math
import random
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from broker_core.jdl import check as checking
from broker_core.jdl.evaluation.environment import EvaluationEnvironment
from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.evaluation.operators import truth
from broker_core.jdl.evaluation.values import is_number
from broker_core.jdl.syntax import tree
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tree import Ad, Expression
from broker_core.matching.columnar.compiling import compiled
from broker_core.matching.columnar.program import ColumnProgram, ConditionalOperation, Exact
from broker_core.matching.columnar.view import View
from broker_core.matching.context import Context
from broker_core.matching.exact import fits, rank
from broker_core.matching.match import match
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from broker_core.resources.values import idle, values
from tests.matching import pools_made
from tests.matching.made import job, resource

_CODES = {False: 0, True: 1, tree.UNDEFINED: 2, tree.ERROR: 3}
_NOW = 1_700_000_000.0


def own_ad() -> Ad:
    ad = parse(pools_made.OWN).ad
    assert ad is not None
    return ad


def tree_of(text: str) -> Expression:
    found, wrong = parse_expression(text)
    assert found is not None, (text, wrong)
    return found


def program(text: str, pool: Pool) -> ColumnProgram:
    return compiled(tree_of(text), own_ad(), pool.columns, WeakValueDictionary()).program


def whole(text: str, pool: Pool) -> list[tuple[int, float]]:
    """Condition and rank at each row, by columns; nan told as -1."""
    view = View(pool, pool.columns.size, own_ad(), _NOW)
    made = program(text, pool)
    held = np.broadcast_to(made.truth(view), view.size).tolist()
    ranks = np.broadcast_to(made.ranks(view), view.size).tolist()
    return [(one, _comparable(number)) for one, number in zip(held, ranks, strict=True)]


def each(text: str, resources: list[Resource]) -> list[tuple[int, float]]:
    """The same by the exact evaluator."""
    found: list[Any] = [evaluate(tree_of(text), own_ad(), values(one), now=_NOW) for one in resources]
    return [
        (_CODES[truth(value)], _comparable(float(value) if is_number(value) else math.nan)) for value in found
    ]


def _comparable(number: float) -> Any:
    return "nan" if math.isnan(number) else number


def check(seed: int, expressions: int) -> None:
    chance = random.Random(seed)
    resources = pools_made.resources(chance, chance.choice((1, 5, 20)))
    pool = Pool.of(resources)
    quiet = [idle(one) for one in resources]
    for _ in range(expressions):
        text = pools_made.expression(chance, chance.randint(1, 4))
        assert whole(text, pool) == each(text, resources), text
        assert whole(text, pool.idle()) == each(text, quiet), text


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_generated_expressions_are_equal_over_generated_resources(seed: int) -> None:
    check(seed, 6)


def test_many_generated_expressions_are_equal(soak: bool) -> None:
    for seed in range(3000 if soak else 15):
        check(seed, 20)


@pytest.mark.parametrize(
    "text",
    [
        "other.GlueHostBenchmarkSI00 / other.GlueCEStateFreeCPUs",
        "other.GlueHostBenchmarkSI00 % other.GlueCEStateFreeCPUs",
        "other.GlueHostBenchmarkSI00 * 4611686018427387904 + other.GlueCEStateFreeCPUs",
        "(other.GlueHostBenchmarkSI00 > 3) * 100 + other.GlueCEStateFreeCPUs",
        "-(other.GlueCEStateFreeCPUs > 3) ?: 5",
        "other.GlueCEStateFreeCPUs > 5 ? other.GlueCEStateFreeCPUs : 0.5",
        "other.GlueCEStateWaitingJobs == 0 ? other.GlueCEStateFreeCPUs : -other.GlueCEStateWaitingJobs",
        "other.GLUE2ComputingManagerTotalSlots == other.GlueCEInfoTotalCPUs",
        "Wish && other.GlueHostNetworkAdapterOutboundIP",
        "Loop || other.GlueCEStateFreeCPUs > 1 && other.GlueHostBenchmarkSI00 > 1",
        'eval("other.GlueCEStateFreeCPUs + other.GlueHostBenchmarkSI00")',
        "time() > 5 && other.GlueCEStateFreeCPUs > time() % 7",
        " || ".join(f"other.GlueHostBenchmarkSI00 + other.GlueCEStateFreeCPUs == {n}" for n in range(300)),
    ],
)
def test_what_is_hard_to_get_right_is_equal(text: str) -> None:
    resources = pools_made.resources(random.Random(7), 40)
    assert whole(text, Pool.of(resources)) == each(text, resources)


def test_a_chain_over_one_attribute_is_evaluated_once_for_each_value() -> None:
    pool = Pool.of(pools_made.resources(random.Random(3), 30))
    made = program("other.GlueHostBenchmarkSI00 > 3 || other.GlueHostBenchmarkSI00 == 1", pool)
    assert isinstance(made, Exact)
    assert whole("other.GlueHostBenchmarkSI00 > 3", pool)
    view = View(pool, pool.columns.size, own_ad())
    made.truth(view)
    column = pool.columns.column("gluehostbenchmarksi00")
    assert column is not None
    assert len(made.table.values) == len(column.values) < pool.columns.size


def test_a_rank_of_whole_and_real_numbers_is_worked_out_at_once() -> None:
    text = "other.GlueCEStateFreeCPUs > 0 ? other.GlueCEStateFreeCPUs * 1.5 : -other.GlueCEInfoTotalCPUs"
    pool = Pool.of(pools_made.resources(random.Random(3), 30))
    made = program(text, pool)
    assert isinstance(made, ConditionalOperation)
    assert made.computed(View(pool, pool.columns.size, own_ad())) is not None


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_matching_finds_what_the_exact_reference_finds(seed: int) -> None:
    chance = random.Random(seed)
    resources = list({one.ce: one for one in pools_made.resources(chance, 12)}.values())
    wanted = " && ".join(pools_made.expression(chance, 2) for _ in range(chance.randint(1, 3)))
    ranked = pools_made.expression(chance, 3)
    own = pools_made.OWN.replace("NodeNumber = 3; ", "").replace("NodeNumber", "3")
    text = f'Executable = "/bin/true"; {own} Requirements = {wanted}; Rank = {ranked};'
    description = checking.check(text).description
    assume(description is not None)
    assert description is not None
    context = Context(now=_NOW)
    found = match(description, resources, context=context)
    expected = {
        one.ce: rank(description, one, context) for one in resources if fits(description, one, context)
    }
    assert {one.resource.ce: one.rank for one in found.candidates} == expected
    assert {one.resource.ce for one in found.rejected} == {one.ce for one in resources} - expected.keys()
    for one in found.rejected:
        assert one.now_only is fits(description, idle(one.resource), context)


def test_chance_gives_each_resource_a_value_of_its_own() -> None:
    numbers = iter([n / 100 for n in range(100)])
    context = Context(surroundings=EvaluationEnvironment(chance=lambda: next(numbers)))
    found = match(job("Rank = random();"), [resource(f"s{n}") for n in range(10)], context=context)
    assert len({one.rank for one in found.candidates}) == 10


def test_time_is_asked_again_at_every_match() -> None:
    pool = Pool.of([resource()])
    description = job("Requirements = time() > 100; Rank = time();")
    assert not match(description, pool, context=Context(now=50.0)).candidates
    assert match(description, pool, context=Context(now=150.0)).candidates[0].rank == 150.0
    assert match(description, pool, context=Context(now=160.0)).candidates[0].rank == 160.0
