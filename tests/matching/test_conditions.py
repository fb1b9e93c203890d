"""What the broker itself demands: one definition for the decision and for the words."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.matching.context import Context, Owner
from broker_core.matching.match import Matches, match
from broker_core.resources.pool import Exclusion, Pool
from broker_core.resources.record import Resource
from tests.matching.made import job, resource

PARALLEL = 'JobType = "Parallel"; '
TAGS = "GlueHostApplicationSoftwareRunTimeEnvironment"
RULES = "GlueCEAccessControlBaseRule"


def found(text: str, resources: list[Resource] | Pool, **more: Any) -> Matches:
    return match(job(text), resources, context=Context(**more))


def sites(matches: Matches) -> list[str]:
    return sorted(one.resource.site for one in matches.candidates)


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (Owner(frozenset({"atlas"})), ["account", "atlas", "both"]),
        (Owner(frozenset({"cms"})), ["account", "both"]),
        (Owner(frozenset({"biomed"}), frozenset({"/biomed/lcg/Role=production"})), ["account", "group"]),
        (Owner(), ["account"]),
        (None, ["account", "atlas", "both", "group"]),
    ],
)
def test_only_sites_that_let_the_owner_in_match(owner: Owner | None, expected: list[str]) -> None:
    resources = [
        resource("account"),
        resource("atlas", **{RULES: ["VO:atlas"]}),
        resource("both", **{RULES: ["VO:cms", "VO:atlas"]}),
        resource("group", **{RULES: ["VOMS:/biomed/lcg"]}),
    ]
    assert sites(found("", resources, owner=owner)) == expected


def test_without_a_credential_the_organisation_of_the_description_decides() -> None:
    resources = [resource("atlas", **{RULES: ["VO:atlas"]}), resource("cms", **{RULES: ["VO:cms"]})]
    text = 'VirtualOrganisation = "atlas";'
    assert sites(found(text, resources)) == ["atlas"]
    assert sites(found(text, resources, owner=Owner(frozenset({"cms"})))) == ["cms"]


def test_a_site_that_keeps_the_owner_out_says_whom_it_lets_in() -> None:
    matches = found("", [resource(**{RULES: ["VO:cms"]})], owner=Owner(frozenset({"atlas"})))
    assert matches.rejected[0].reason == "it lets in VO:cms; the job's owner is of atlas"
    assert [one.origin for one in matches.rejected[0].clauses if not one.holds] == ["authorisation"]
    assert not matches.feasible


@pytest.mark.parametrize(("origin", "now_only"), [("stale", True), ("lock", True), ("access", False)])
def test_a_bar_keeps_a_resource_out_and_says_why(origin: str, now_only: bool) -> None:
    pool = Pool.of([resource("a"), resource("b")])
    pool.barred[0] = Exclusion(origin, f"because of {origin}", now_only)
    matches = found("", pool)
    assert sites(matches) == ["b"]
    refused = matches.rejected[0]
    assert (refused.reason, refused.now_only) == (f"because of {origin}", now_only)
    assert (refused.clauses[0].origin, refused.clauses[0].value) == (origin, "false")
    pool.barred.clear()
    assert sites(found("", pool)) == ["a", "b"]


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("PolicyMaxSlotsPerJobs_q=2", "it has 4 CPUs, of which one job may use 2; 3 wanted"),
        ("PolicyMaxSlotsPerJobs_other=2", ""),
        ("PolicyMaxSlotsPerJobs_q=zwei", ""),
    ],
)
def test_a_tag_for_the_queue_limits_the_cpus_of_one_job(tag: str, words: str) -> None:
    matches = found(PARALLEL + 'SubJobType = "plain"; NodeNumber = 3;', [resource(**{TAGS: ["X", tag]})])
    assert [one.reason for one in matches.rejected] == ([words] if words else [])


def test_a_malformed_limit_is_ignored_with_a_warning() -> None:
    matches = found("", [resource(**{TAGS: ["PolicyMaxSlotsPerJobs_q=0"]})])
    told = [one.explanation for one in matches.explain(0) if one.origin == "cpus"]
    assert told == ["it has 4 CPUs; 1 wanted; its limit '0' for one job is no number and was ignored"]


def test_the_patterns_of_tags_can_be_chosen() -> None:
    text = PARALLEL + 'SubJobType = "openmpi"; NodeNumber = 3;'
    resources = [
        resource("mine", **{TAGS: ["MY-MPI", "slots:q:2"]}),
        resource("usual", **{TAGS: ["OPENMPI"]}),
    ]
    assert sites(found(text, resources)) == ["usual"]
    assert sites(found(text, resources, mpi_tags={"openmpi": "MY-MPI"})) == ["mine"]
    pattern = r"slots:(?P<queue>\w+):(?P<count>.*)"
    assert sites(found(text, resources, mpi_tags={"openmpi": "MY-MPI"}, slots_tag=pattern)) == []


def test_what_adapters_can_do_may_be_taken_for_granted_but_not_software() -> None:
    text = PARALLEL + 'SubJobType = "openmpi"; NodeNumber = 2; Interactive = true;'
    resources = [resource("tagged", **{TAGS: ["OPENMPI"]}), resource("bare")]
    assert sites(found(text, resources)) == []
    assert sites(found(text, resources, assume_abilities=True)) == ["tagged"]


def test_conditions_follow_changes_of_the_columns() -> None:
    pool = Pool.of([resource("a"), resource("b", **{TAGS: ["OPENMPI"]})])
    description = job(PARALLEL + 'SubJobType = "openmpi"; NodeNumber = 2;')
    assert sites(match(description, pool)) == ["b"]
    pool.columns.put("a:2119/jobmanager-fork-q", "a", {TAGS.lower(): ["OPENMPI-5"]})
    assert [pool.columns.sites[row] for row in sorted(match(description, pool).candidates.rows)] == ["a", "b"]
    pool.columns.remove("b:2119/jobmanager-fork-q")
    assert [pool.columns.sites[row] for row in match(description, pool).candidates.rows] == ["a"]


def test_a_full_queue_matters_only_to_a_job_that_would_wait_there() -> None:
    full = resource(free=0, waiting=5, GlueCEPolicyMaxWaitingJobs=5)
    matches = found("", [full])
    assert matches.rejected[0].reason == "5 jobs wait there; at most 5 may"
    assert matches.rejected[0].now_only
    assert sites(found("", [resource(free=4, waiting=5, GlueCEPolicyMaxWaitingJobs=5)])) == ["here"]
    assert sites(found("", [resource(free=0, waiting=5, GlueCEPolicyMaxWaitingJobs=999999999)])) == ["here"]


def test_the_longest_queue_counts_only_the_jobs_that_matter_there() -> None:
    pool = Pool.of([resource("crowded", waiting=500), resource("small", total=9, free=9, waiting=1)])
    assert [one.resource.site for one in found("", pool).candidates] == ["small", "crowded"]
    pool.own_waiting = pool.waiting * 0
    assert [one.resource.site for one in found("", pool).candidates] == ["crowded", "small"]


def of_software(*tags: str) -> Resource:
    return resource(**{TAGS: ["POSIX", *tags]})


@pytest.mark.parametrize(
    ("text", "tags", "reason"),
    [
        ('Modules = "gcc/14";', ["MODULE:gcc/14"], None),
        ('Modules = "gcc";', ["MODULE:gcc/14"], None),
        ('Modules = "gcc/14";', [], None),
        ('Modules = "gcc/14";', ["MODULE:intel/1", "MODULE:..."], None),
        ('Modules = "gcc/1";', ["MODULE:gcc/14"], "it has no module gcc/1 (there is gcc/14)"),
        ('Modules = {"gcc/14", "R"};', ["MODULE:gcc/14"], "it has no module R"),
        ('Container = "/img.sif";', ["CONTAINER:ch-run"], None),
        ('Container = "/img.sif";', [], None),
        ('Container = "/img.sif";', ["CONTAINER:"], "it has no container runtime"),
        ('Container = "/img.sif"; Modules = "apptainer";', ["CONTAINER:", "MODULE:apptainer/1"], None),
        ('PythonEnvironment = "r.txt"; InputSandbox = "r.txt";', ["PYTHON:3.11.2"], None),
        ('PythonEnvironment = "r.txt"; InputSandbox = "r.txt";', ["PYTHON:conda"], "it has no python3"),
        ('PythonEnvironment = "e.yml"; InputSandbox = "e.yml";', ["PYTHON:3.11.2"], "it has no conda"),
        (
            'PythonEnvironment = "pylock.toml"; InputSandbox = "pylock.toml";',
            ["PYTHON:3.11.2"],
            "it has no uv",
        ),
    ],
)
def test_a_site_that_tells_what_it_has_is_left_out_for_what_it_lacks(
    text: str, tags: list[str], reason: str | None
) -> None:
    matches = found(text, [of_software(*tags)])
    assert [one.reason for one in matches.rejected] == ([] if reason is None else [reason])
    if reason is not None:
        assert [one.origin for one in matches.rejected[0].clauses if not one.holds] == ["software"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Site = "Vega";', ["vega"]),
        ('Site = {"LCG.Example.org", "gone"};', ["lyra"]),
        ('BannedSites = {"vega", "lcg.example.org"};', ["mira"]),
        ('GridCE = "ce.mira.org";', ["mira"]),
        ('GridCE = "vega:2119/jobmanager-fork-q";', ["vega"]),
        ('BatchSystem = "pbs";', ["lyra"]),
        ('Tags = {"GCC", "OPENMPI"};', ["mira"]),
        ("CERequirements = other.GlueHostMainMemoryRAMSize >= 600;", ["mira"]),
        ("", ["lyra", "mira", "vega"]),
    ],
)
def test_sites_elements_systems_and_tags_are_chosen_by_name(text: str, expected: list[str]) -> None:
    resources = [
        resource("vega", GlueCEInfoLRMSType="slurm"),
        resource("lyra", GlueCEInfoLRMSType="torque", GlueSiteUniqueID="LCG.example.org"),
        resource(
            "mira",
            GlueCEInfoHostName="ce.Mira.org",
            GlueHostMainMemoryRAMSize=800,
            GlueHostApplicationSoftwareRunTimeEnvironment=["gcc-14", "openmpi"],
        ),
    ]
    matches = found(text, resources)
    assert sites(matches) == expected
    told = [clause for row in range(3) for clause in matches.explain(row) if not clause.holds]
    assert all(clause.explanation for clause in told)


def test_a_site_that_is_not_chosen_is_told_with_the_reason() -> None:
    matches = found(
        'BannedSites = "vega"; BatchSystem = "pbs";', [resource("vega", GlueCEInfoLRMSType="slurm")]
    )
    told = {clause.text: clause.explanation for clause in matches.explain(0) if not clause.holds}
    assert told == {
        "BannedSites vega": "BannedSites names vega",
        "batch system pbs": "the batch system of vega is slurm; BatchSystem is pbs",
    }
