"""Jobs over several sites: matching finds the sets of computing elements for them."""

from __future__ import annotations

from typing import Any

from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.matching.report import report
from broker_core.matching.sets.trace import read
from tests.matching.made import job, resource

FLEXIBLE = (
    'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 10; Rank = other.GlueHostBenchmarkSI00;'
)
TAGS = "GlueHostApplicationSoftwareRunTimeEnvironment"


def over(text: str, **more: Any) -> Matches:
    sizes = {"a": (4, 400), "b": (8, 460), "c": (2, 650), "d": (16, 100)}
    resources = [
        resource(name, free, free, GlueHostBenchmarkSI00=rank, **{TAGS: ["PACX-MPI"]})
        for name, (free, rank) in sizes.items()
    ]
    return match(job(text), resources, context=Context(assume_abilities=True, **more))


def members(found: Matches) -> list[tuple[str, ...]]:
    return [
        tuple(sorted(found.candidates[at].resource.site for at in group.members)) for group in found.groups
    ]


def test_a_flexible_job_gets_the_smallest_sets_best_rank_first() -> None:
    found = over(FLEXIBLE)
    assert members(found) == [("d",), ("b", "c"), ("a", "b")]
    assert [group.rank for group in found.groups] == [100.0, 498.0, 440.0]
    assert found.feasible
    assert sorted(found.grouping.cpus(found.groups[1], 10)) == [2, 8]


def test_a_limit_on_the_cpus_of_one_job_holds_in_sets_too() -> None:
    limited = resource("d", 16, 16, **{TAGS: ["PACX-MPI", "PolicyMaxSlotsPerJobs_q=3"]})
    found = match(job(FLEXIBLE), [limited], context=Context(assume_abilities=True))
    assert not found.groups
    assert "all together have 3" in found.advice
    assert not found.feasible


def test_sets_of_busy_sites_are_not_now_rather_than_never() -> None:
    busy = resource("d", 16, 1, **{TAGS: ["PACX-MPI"]})
    found = match(job(FLEXIBLE), [busy], context=Context(assume_abilities=True))
    assert not found.groups
    assert found.feasible


def test_fixed_components_are_placed_by_their_own_requirements() -> None:
    found = over(
        'JobType = "Parallel"; SubJobType = "pacx-mpi"; Rank = other.GlueHostBenchmarkSI00; SubJobs = {'
        " [NodeNumber = 5; Requirements = other.GlueHostBenchmarkSI00 > 450;],"
        " [NodeNumber = 12; Rank = 7;] };"
    )
    assert members(found) == [("b", "d")]
    group = found.groups[0]
    shares = dict(
        zip(
            (found.candidates[at].resource.site for at in group.members),
            found.grouping.cpus(group, 17),
            strict=True,
        )
    )
    assert shares == {"b": 5, "d": 12}
    assert group.rank == (5 * 460 + 12 * 7) / 17


def test_a_site_that_suits_no_component_does_not_match() -> None:
    found = over(
        'JobType = "Parallel"; SubJobType = "pacx-mpi"; SubJobs = {'
        " [NodeNumber = 1; Requirements = other.GlueHostBenchmarkSI00 > 450;] };"
    )
    assert sorted(one.resource.site for one in found.candidates) == ["b", "c"]
    assert found.rejected[0].reason == "it meets the Requirements of no component of the job"


def test_jobs_that_call_over_borders_need_public_addresses() -> None:
    text = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 2;'
    tags = {TAGS: ["MPICH-G2"]}
    resources = [
        resource("public", GlueHostNetworkAdapterInboundIP=True, **tags),
        resource("private", GlueHostNetworkAdapterInboundIP=False, **tags),
        resource("unknown", **tags),
    ]
    found = match(job(text), resources, context=Context(assume_abilities=True))
    assert [one.resource.site for one in found.candidates] == ["public"]
    assert found.rejected[0].reason == "its nodes cannot be reached from other sites"


def test_the_report_has_the_sets_with_their_calculation_and_the_trace() -> None:
    shown = report(over(FLEXIBLE), limit=2)
    assert shown.groups_total == 3
    assert [group.size for group in shown.groups] == [1, 2]
    assert shown.groups[1].calculation.endswith("/ 10 = 498")
    assert (shown.groups[1].total_cpus, shown.groups[1].free_cpus, sum(shown.groups[1].cpus)) == (10, 10, 10)
    assert {step.kind for step in read(shown.trace)} >= {"begin", "suitable", "matched", "end"}


def test_the_way_of_building_sets_can_be_chosen() -> None:
    assert members(over(FLEXIBLE, set_mode="listing"))[0] == ("d",)
    assert members(over(FLEXIBLE, max_ces_per_set=1)) == [("d",)]
