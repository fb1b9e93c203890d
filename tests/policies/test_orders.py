"""The built-in orders of sites and of sets (CB-SCH-04, CB-SCH-05, CB-SCH-05a, CB-SCH-11)."""

from __future__ import annotations

import pytest

from broker_core.matching.match import Matches, match
from broker_core.policies.applied import applied, by_ways
from broker_core.policies.built_in import POLICIES
from broker_core.resources.record import Resource
from tests.matching.made import job, resource

OVER_SITES = 'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = {};'
FOUR = {"a": 5, "b": 2, "c": 9, "d": 1}


def pool(**free: int) -> list[Resource]:
    tags = {
        "GlueHostApplicationSoftwareRunTimeEnvironment": ["PACX-MPI"],
        "CrossDeskAbilities": ["inter-cluster"],
    }
    return [resource(name, 9, count, **tags) for name, count in free.items()]


def by(name: str, text: str, resources: list[Resource]) -> Matches:
    found = applied(POLICIES[name], name, match(job(text), resources))
    assert found.policy_note == ""
    return found


def singles(name: str, text: str, resources: list[Resource]) -> str:
    return "".join(one.resource.site for one in by(name, text, resources).candidates)


def groups(name: str, text: str, resources: list[Resource]) -> list[str]:
    found = by(name, text, resources)
    return ["".join(sorted(found.candidates.ids[at][0] for at in one.members)) for one in found.groups]


@pytest.mark.parametrize(
    ("name", "order"), [("best-fit", "dbac"), ("worst-fit", "cabd"), ("first-fit", "abcd")]
)
def test_each_policy_orders_single_sites_its_own_way(name: str, order: str) -> None:
    assert singles(name, "", pool(**FOUR)) == order


def test_first_fit_puts_sites_with_too_few_free_cpus_behind_those_with_enough() -> None:
    text = 'JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 4;'
    assert singles("first-fit", text, pool(**FOUR)) == "acbd"


def test_best_fit_puts_rank_before_the_surplus_and_a_long_queue_last() -> None:
    resources = [
        resource("slow", 9, 1, GlueHostBenchmarkSI00=1),
        resource("fast", 9, 9, GlueHostBenchmarkSI00=3),
        resource("full", 9, 9, waiting=101, GlueHostBenchmarkSI00=9),
        resource("mute", 9, 1),
    ]
    found = match(job("Rank = other.GlueHostBenchmarkSI00;"), resources)
    ordered = applied(POLICIES["best-fit"], "best-fit", found)
    assert [one.resource.site for one in ordered.candidates] == ["fast", "slow", "mute", "full"]


def test_fewer_sites_come_before_more_and_then_the_higher_rank() -> None:
    text = OVER_SITES.format(9) + " Rank = other.GlueCEStateFreeCPUs;"
    assert groups("best-fit", text, pool(a=5, b=4, c=9, d=8)) == ["c", "ad", "bd", "ab"]


@pytest.mark.parametrize("slots_first", [False, True])
def test_virtual_slots_and_processors_are_told_apart_for_interactive_jobs_alone(slots_first: bool) -> None:
    found = match(job(""), pool(**FOUR))
    assert by_ways(found, slots_first) is found


def test_a_set_with_an_overloaded_member_comes_last() -> None:
    resources = pool(a=5, b=4, c=4)
    full = resource("d", 9, 9, waiting=101, **resources[0].attributes)
    assert groups("best-fit", OVER_SITES.format(9), [*resources, full]) == ["ab", "ac", "d"]


@pytest.mark.parametrize("name", ["worst-fit", "first-fit"])
def test_several_sites_are_used_only_where_no_single_one_suffices(name: str) -> None:
    assert groups(name, OVER_SITES.format(7), pool(**FOUR)) == ["c"]
    assert groups(name, OVER_SITES.format(8), pool(a=5, b=2, c=6, d=3))[0] == "ad"


def test_of_equally_few_sites_the_best_fitting_come_first_whatever_their_rank() -> None:
    text = OVER_SITES.format(10) + " Rank = other.GlueCEStateFreeCPUs;"
    assert groups("worst-fit", text, pool(a=5, b=5, c=9, d=8)) == ["ab", "ad", "bd", "ac", "bc", "cd"]


def test_closeness_of_data_goes_before_rank() -> None:
    from broker_core.matching.context import Context

    resources = [resource(name, 9, 9, GlueHostBenchmarkSI00=rank) for name, rank in (("a", 1), ("b", 2))]
    context = Context(close={resources[0].ce: 3})
    found = match(job("Rank = other.GlueHostBenchmarkSI00;"), resources, context=context)
    ordered = applied(POLICIES["best-fit"], "best-fit", found)
    assert [one.resource.site for one in ordered.candidates] == ["a", "b"]


def test_the_order_of_a_fuzzy_rank_stands() -> None:
    from broker_core.matching.context import Context

    resources = [resource(f"s{place}", 9, 9, GlueHostBenchmarkSI00=place) for place in range(8)]
    text = "FuzzyRank = true; Rank = other.GlueHostBenchmarkSI00;"
    orders = set()
    for seed in range(20):
        found = match(job(text), resources, context=Context(fuzzy_seed=seed))
        ordered = applied(POLICIES["best-fit"], "best-fit", found)
        assert list(ordered.candidates.ids) == list(found.candidates.ids)
        orders.add(tuple(ordered.candidates.ids))
    assert len(orders) > 1
