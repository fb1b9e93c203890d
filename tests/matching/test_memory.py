"""What matching keeps between matches: never an old answer, and never too much."""

from __future__ import annotations

import gc

import pytest

from broker_core.matching import plan_cache as memory
from broker_core.matching.context import Context
from broker_core.matching.match import match
from broker_core.matching.plan_cache import memory_of
from broker_core.resources.pool import Pool
from broker_core.resources.values import facts
from tests.matching.made import job, resource


def pool(count: int = 3) -> Pool:
    return Pool.of([resource(f"s{n}", GlueHostBenchmarkSI00=n) for n in range(count)])


def test_a_description_matched_again_has_the_same_plan() -> None:
    resources, description = pool(), job("Requirements = other.GlueHostBenchmarkSI00 > 1;")
    first = match(description, resources).plan
    assert match(description, resources).plan is first
    assert match(description, resources, context=Context(now=5.0)).plan is first
    assert match(description, resources, context=Context(site="s1")).plan is not first
    assert match(job("Requirements = other.GlueHostBenchmarkSI00 > 1;"), resources).plan is not first


def test_an_attribute_that_none_had_before_counts_at_once() -> None:
    resources, description = pool(), job('Requirements = other.GlueHostProcessorModel == "P4";')
    assert not match(description, resources).candidates
    ce = resources.columns.ces[1]
    resources.columns.put(ce, "s1", facts({"GlueHostProcessorModel": "P4"}, ce, "s1"))
    assert list(match(description, resources).candidates.ids) == [ce]


def test_changed_counts_and_attributes_count_at_once() -> None:
    resources = pool()
    description = job("Requirements = other.GlueCEStateFreeCPUs > 1; Rank = other.GlueHostBenchmarkSI00;")
    assert match(description, resources).candidates.rows.tolist() == [2, 1, 0]
    resources.free[2] = 1
    assert match(description, resources).candidates.rows.tolist() == [1, 0]
    ce = resources.columns.ces[0]
    resources.columns.put(ce, "s0", facts({"GlueHostBenchmarkSI00": 9}, ce, "s0"))
    assert match(description, resources).candidates.rows.tolist() == [0, 1]


def test_codes_that_get_another_meaning_give_no_old_answer() -> None:
    resources, description = pool(2), job("Requirements = other.GlueHostBenchmarkSI00 == 777;")
    assert not match(description, resources).candidates
    for value in (*range(100, 400), 777):
        for ce in list(resources.columns.ces):
            resources.columns.put(ce, "s", facts({"GlueHostBenchmarkSI00": value}, ce, "s"))
    assert len(match(description, resources).candidates) == 2


def test_descriptions_used_longest_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PLANS_MAX", 5)
    resources = pool()
    first = job("Rank = 1;")
    plan = match(first, resources).plan
    for number in range(4):
        match(job(f"Rank = {number};"), resources)
        assert match(first, resources).plan is plan
    for number in range(5):
        match(job(f"Rank = {number};"), resources)
    assert match(first, resources).plan is not plan


def test_what_is_kept_stays_light(monkeypatch: pytest.MonkeyPatch) -> None:
    resources = pool(300)
    monkeypatch.setattr(memory, "WEIGHT_MAX", 300 << 10)
    for number in range(300):
        match(job(f'Requirements = other.GlueCEUniqueID != "{number}";'), resources)
    gc.collect()
    assert len(memory_of(resources.columns)._plans) <= 100 + memory._EVERY


def test_alike_clauses_of_different_descriptions_share_what_is_known() -> None:
    resources = pool()
    plans = [
        match(job(f"Requirements = other.GlueHostBenchmarkSI00 > 1; Rank = {n};"), resources).plan
        for n in (1, 2)
    ]
    assert next(plans[0].tables) is next(plans[1].tables)


def test_the_same_text_with_other_attributes_of_the_job_is_another_clause() -> None:
    resources = pool()
    found = [
        match(job(f"Least = {n}; Requirements = other.GlueHostBenchmarkSI00 > Least;"), resources)
        for n in (0, 1)
    ]
    assert [len(one.candidates) for one in found] == [2, 1]
