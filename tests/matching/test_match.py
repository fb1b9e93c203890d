"""Where a job can run, in which order, and why not elsewhere."""

from __future__ import annotations

import pytest

from broker_core.matching.context import Context
from broker_core.matching.match import match
from broker_core.matching.report import report
from broker_core.resources.values import idle
from tests.matching.made import job, resource

PARALLEL = 'JobType = "Parallel"; '


def order(text: str, *resources: object, **more: object) -> list[str]:
    found = match(job(text), resources, context=Context(**more))  # type: ignore[arg-type]
    return [one.resource.site for one in found.candidates]


def test_a_plain_job_matches_any_resource_in_production() -> None:
    closed = resource("closed", GlueCEStateStatus="Draining")
    found = match(job(), [closed, resource()])
    assert [one.resource.site for one in found.candidates] == ["here"]
    assert found.rejected[0].now_only
    assert found.rejected[0].reason == "its status is Draining"
    assert found.advice == ""


def test_candidates_come_by_queue_then_rank_then_smallest_surplus() -> None:
    roomy, tight = resource("roomy", 8, 8), resource("tight", 2, 2)
    full, crowded = resource("full", 4, 0), resource("crowded", 4, 4, waiting=101)
    assert order("", roomy, tight, full, crowded) == ["tight", "roomy", "full", "crowded"]
    assert order("Rank = other.GlueHostFreeCPUs;", roomy, tight, full) == ["roomy", "tight", "full"]


def test_a_rank_that_is_no_number_comes_last() -> None:
    ranked = resource("ranked", GlueHostBenchmarkSI00=-5)
    found = match(job("Rank = other.GlueHostBenchmarkSI00;"), [resource("none"), ranked])
    assert [(one.resource.site, one.rank) for one in found.candidates] == [("ranked", -5.0), ("none", None)]


def test_each_clause_is_explained_with_the_values_met() -> None:
    found = match(
        job(
            'Requirements = other.GlueHostMainMemoryRAMSize >= 1024 && Member("X", other.'
            "GlueHostApplicationRunTimeEnvironment) && other.GlueCEStateFreCPUs > 1 "
            "&& other.GlueHostFreeCPUs > 1;"
        ),
        [resource(GlueHostApplicationSoftwareRunTimeEnvironment=["Y"])],
    )
    assert not found.feasible
    clauses = [one for one in found.rejected[0].clauses if one.origin == "requirements"]
    assert [one.value for one in clauses] == ["false", "false", "undefined", "true"]
    assert clauses[0].explanation == "GlueHostMainMemoryRAMSize is 512; >= 1024 is wanted"
    assert clauses[1].explanation == 'GlueHostApplicationRunTimeEnvironment does not have "X"'
    assert "did you mean GlueCEStateFreeCPUs" in clauses[2].explanation


def test_the_smallest_change_is_advised() -> None:
    text = "Requirements = other.GlueHostMainMemoryRAMSize >= 1024 && other.GlueHostFreeCPUs >= 1;"
    found = match(job(text), [resource("a"), resource("b")])
    assert found.advice == "Dropping clause 1 (other.GlueHostMainMemoryRAMSize >= 1024) gives 2 of 2."


def test_too_many_cpus_can_never_be_had() -> None:
    found = match(job(PARALLEL + 'SubJobType = "plain"; NodeNumber = 8;'), [resource()])
    assert not found.feasible
    assert found.rejected[0].reason == "it has 4 CPUs; 8 wanted"
    assert "at most 4 instead of 8" in found.advice


def test_a_busy_site_is_not_now_rather_than_never() -> None:
    busy = resource(free=0, waiting=2)
    found = match(job("Requirements = other.GlueCEStateWaitingJobs == 0;"), [busy])
    assert found.feasible
    assert not found.candidates
    assert [one.resource for one in match(found.description, [idle(busy)]).candidates] == [idle(busy)]


def test_what_holds_only_while_busy_never_matches() -> None:
    busy = resource(free=0)
    found = match(
        job("Requirements = other.GlueCEStateFreeCPUs == 0 && other.GlueCEStateRunningJobs < 4;"), [busy]
    )
    assert not found.feasible
    assert not found.rejected[0].now_only


def test_free_cpus_count_for_interactive_jobs_and_by_setting() -> None:
    busy = resource(free=0)
    assert order("", busy) == ["here"]
    assert order("", busy, batch_capacity="free") == []
    found = match(job("Interactive = true;"), [busy], context=Context(abilities=frozenset({"interactive"})))
    assert found.rejected[0].now_only


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('SubJobType = "openmpi"; NodeNumber = 2;', "it does not offer the MPI implementation OPENMPI"),
        (
            'SubJobType = "plain"; NodeNumber = 2; ApplicationLauncher = "own";',
            "it does not offer the launcher own",
        ),
        (
            'SubJobType = "plain"; NodeNumber = 2; Interactive = true;',
            "it does not offer interactive jobs: the broker has no agent for this site yet (Help, Agents)",
        ),
        ('SubJobType = "plain"; NodeNumber = 2; SubmitTo = "there";', "SubmitTo names there"),
    ],
)
def test_what_a_site_cannot_do_is_said(text: str, reason: str) -> None:
    found = match(job(PARALLEL + text), [resource()])
    assert not found.feasible
    assert found.rejected[0].reason == reason


def test_tags_and_abilities_open_a_site() -> None:
    tagged = resource("tagged", GlueHostApplicationSoftwareRunTimeEnvironment=["OPENMPI-4.1"])
    able = resource("able", CrossDeskAbilities=["mpi:openmpi"])
    text = PARALLEL + 'SubJobType = "openmpi"; NodeNumber = 2;'
    assert order(text, tagged, able, resource("plain")) == ["able", "tagged"]


def test_a_tag_limits_the_cpus_of_one_job() -> None:
    limited = resource(GlueHostApplicationSoftwareRunTimeEnvironment=["PolicyMaxSlotsPerJobs_q=2"])
    malformed = resource("m", GlueHostApplicationSoftwareRunTimeEnvironment=["PolicyMaxSlotsPerJobs_q=0"])
    assert order(PARALLEL + 'SubJobType = "plain"; NodeNumber = 3;', limited, malformed) == ["m"]


def test_wall_time_and_pinned_site_are_conditions() -> None:
    short = resource("short", GlueCEPolicyMaxWallClockTime=60)
    assert order('WallTime = "2h";', short, resource("long")) == ["long"]
    assert order("", short, resource("long"), site="short") == ["short"]


def test_requirements_must_be_exactly_true() -> None:
    assert order("Requirements = other.Nothing;", resource()) == []
    assert order('Requirements = "x" == 1;', resource()) == []


def test_the_report_lists_candidates_first_and_all_clauses() -> None:
    found = match(job("Requirements = other.GlueCEInfoTotalCPUs > 4;"), [resource("a"), resource("b", 8, 8)])
    shown = report(found)
    assert [(row.site, row.matches, row.rank) for row in shown.resources] == [
        ("b", True, 0.0),
        ("a", False, None),
    ]
    assert [clause.value for clause in shown.resources[0].clauses] == ["true"] * 4
    assert shown.resources[1].reason == "GlueCEInfoTotalCPUs is 4; > 4 is wanted"


def test_no_known_resource_is_said() -> None:
    assert match(job(), []).advice == "No resource is known yet."
