"""Counts, the order of what does not match, advice, and the report as it goes over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.matching.context import Context
from broker_core.matching.match import match
from broker_core.matching.report import report
from broker_core.resources.pool import Exclusion, Pool
from tests.matching.made import job, resource

WANTED = (
    "Requirements = other.GlueHostMainMemoryRAMSize >= 1024 && other.GlueHostBenchmarkSI00 >= 1000"
    " && other.GlueCEStateFreeCPUs > 2;"
)


def pool() -> Pool:
    return Pool.of(
        [
            resource("good", GlueHostMainMemoryRAMSize=2048, GlueHostBenchmarkSI00=2000),
            resource("busy", free=0, GlueHostMainMemoryRAMSize=2048, GlueHostBenchmarkSI00=2000),
            resource("slow", GlueHostMainMemoryRAMSize=2048, GlueHostBenchmarkSI00=1),
            resource("poor", GlueHostMainMemoryRAMSize=1, GlueHostBenchmarkSI00=1),
            resource("silent", GlueHostMainMemoryRAMSize=2048),
            resource("small", GlueHostBenchmarkSI00=2000),
        ]
    )


def test_counts_say_how_many_satisfy_a_clause_and_how_many_it_alone_keeps_out() -> None:
    found = match(job(WANTED), pool())
    told = {one.text: (one.satisfied, one.alone) for one in found.counts if one.origin == "requirements"}
    assert told == {
        "other.GlueHostMainMemoryRAMSize >= 1024": (4, 1),
        "other.GlueHostBenchmarkSI00 >= 1000": (3, 2),
        "other.GlueCEStateFreeCPUs > 2": (5, 1),
    }


def test_a_count_knows_where_its_clause_stands_in_the_text() -> None:
    text = f'Executable = "/bin/true"; {WANTED}'
    places = [text[one.start : one.end] for one in match(job(WANTED), pool()).counts if one.end]
    assert places[0] == "other.GlueHostMainMemoryRAMSize >= 1024"
    assert len(places) == 3


def test_the_analysis_is_one_sentence() -> None:
    found = match(job(WANTED), pool())
    assert found.analysis == (
        "1 of 6 known resources matches: 3 of 6 satisfy clause 2 (other.GlueHostBenchmarkSI00 >= 1000);"
        " dropping clause 2 (other.GlueHostBenchmarkSI00 >= 1000) gives 2 more."
    )
    assert match(job(), pool()).analysis == "6 of 6 known resources match."


def test_what_is_barred_counts_for_no_clause_alone_and_is_told() -> None:
    resources = pool()
    resources.barred[2] = Exclusion("stale", "not heard of", now_only=True)
    found = match(job(WANTED), resources)
    assert [one.alone for one in found.counts if one.origin == "requirements"] == [1, 1, 1]
    assert found.analysis.endswith("1 cannot be used now.")


def test_the_nearest_to_matching_come_first() -> None:
    found = match(job(WANTED), pool())
    assert [one.resource.site for one in found.rejected] == ["busy", "silent", "slow", "small", "poor"]
    assert [one.now_only for one in found.rejected] == [True, False, False, False, False]
    assert found.rejected.now_only == 1
    assert (
        found.rejected[1].reason == "GlueHostBenchmarkSI00 is not published here, so the clause is undefined"
    )
    assert [one.resource.site for one in found.rejected[3:]] == ["small", "poor"]
    assert found.rejected[-1].resource.site == "poor"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (WANTED, ""),
        (
            "Requirements = other.GlueHostMainMemoryRAMSize > 4096 && other.GlueHostBenchmarkSI00 > 1000;",
            "Dropping clause 1 (other.GlueHostMainMemoryRAMSize > 4096) gives 3 of 6.",
        ),
        (
            "Requirements = other.X > 1 && other.Y > 2;",
            "Dropping clause 1 (other.X > 1) and clause 2 (other.Y > 2) gives 6 of 6.",
        ),
        (
            "Requirements = other.GlueCEStateFreeCPUs > 3 && other.GlueCEStateRunningJobs < 0;",
            "Dropping clause 2 (other.GlueCEStateRunningJobs < 0) gives 5 of 6 (6 when idle).",
        ),
        (
            'Requirements = other.X > 1 && other.Y > 2 && other.Z > 3; SubmitTo = "nowhere";',
            (
                "Giving up the condition 'SubmitTo nowhere' and dropping clause 1 (other.X > 1),"
                " clause 2 (other.Y > 2) and clause 3 (other.Z > 3) gives 6 of 6."
            ),
        ),
        (
            "Requirements = other.X > 1 && other.GlueCEStateFreeCPUs < 0;",
            "Dropping clause 1 (other.X > 1) and clause 2 (other.GlueCEStateFreeCPUs < 0) gives 6 of 6.",
        ),
        (
            'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2;',
            "A site is needed that offers OPENMPI; none of the 6 known does.",
        ),
    ],
)
def test_the_smallest_change_is_advised(text: str, advice: str) -> None:
    assert match(job(text), pool()).advice == advice


def test_advice_and_analysis_name_the_same_number() -> None:
    found = match(
        job("Requirements = other.X > 1;"), [resource("a"), resource("b", GlueCEStateStatus="Draining")]
    )
    assert found.analysis.endswith("dropping clause 1 (other.X > 1) gives 1.")
    assert found.advice == "Dropping clause 1 (other.X > 1) gives 1 of 2 (2 when idle)."


def test_what_would_help_only_once_resources_are_idle_is_said_so() -> None:
    found = match(job("Requirements = other.X > 1;"), [resource("b", GlueCEStateStatus="Draining")])
    assert found.advice == "Dropping clause 1 (other.X > 1) gives 1 of 1 when idle."


def test_several_attributes_that_are_not_published_are_more_than_one() -> None:
    (one,) = match(job("Requirements = other.X > other.Y;"), [resource("a")]).rejected
    assert one.reason == "X and 1 more are not published here, so the clause is undefined"


def test_a_job_over_several_sites_that_no_set_can_take_is_not_in_sets() -> None:
    text = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = {};'
    context = Context(assume_abilities=True)
    places = [
        resource(
            name,
            GlueHostApplicationSoftwareRunTimeEnvironment="MPICH-G2",
            GlueHostNetworkAdapterInboundIP=True,
        )
        for name in "ab"
    ]
    told = [match(job(text.format(count)), places, context=context).analysis for count in (3, 8, 100)]
    assert told == [
        "2 of 2 known resources match, in 2 sets.",
        "2 of 2 known resources match, in 1 set.",
        "2 of 2 known resources match, but no set of them is enough now.",
    ]


DESCRIPTIONS = (
    WANTED,
    'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 3; OutputSE = "se";',
    (
        'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 3;'
        "SubJobs = {[NodeNumber = 1; Requirements = other.X > 1;], [NodeNumber = 2; Requirements = true;]};"
    ),
    'WallTime = 60; VirtualOrganisation = "biomed";',
)


@pytest.mark.parametrize("text", DESCRIPTIONS)
def test_the_conditions_that_are_counted_are_those_of_each_resource(text: str) -> None:
    resources = pool()
    resources.barred[2] = Exclusion("stale", "not heard of", now_only=True)
    resources.barred[3] = Exclusion("access", "no way there", now_only=False)
    shown = report(match(job(text), resources))
    counted = [(one.text, one.origin) for one in shown.clauses]
    assert {"room in its queue", "accepts jobs"} <= {text for text, _ in counted}
    for one in shown.resources:
        assert [(clause.text, clause.origin) for clause in one.clauses] == counted
    for place, one in enumerate(shown.clauses):
        assert one.satisfied == sum(at.clauses[place].value == "true" for at in shown.resources)


def test_a_bar_is_a_condition_that_can_be_counted_and_selected() -> None:
    resources = pool()
    resources.barred[2] = Exclusion("access", "no way there", now_only=False)
    shown = report(match(job(WANTED), resources), fails="can be used by this broker")
    (bar,) = (one for one in shown.clauses if one.origin == "access")
    assert (bar.text, bar.satisfied, bar.alone) == ("can be used by this broker", 5, 0)
    assert [one.site for one in shown.resources] == ["slow"]
    assert [one.explanation for one in shown.resources[0].clauses if one.origin == "access"] == [
        "no way there"
    ]


def test_all_known_being_barred_for_good_is_said() -> None:
    resources = pool()
    resources.barred = {row: Exclusion("access", "no way there", now_only=False) for row in range(6)}
    assert match(job(), resources).advice == "None of the 6 known resources can be used by this broker."


def page(**asked: Any) -> list[str]:
    return [one.site for one in report(match(job(WANTED), pool()), **asked).resources]


def test_a_report_is_a_page_with_the_counts_of_all() -> None:
    shown = report(match(job(WANTED), pool()), offset=1, limit=2)
    assert [one.site for one in shown.resources] == ["busy", "silent"]
    assert (shown.known, shown.matching, shown.selected, shown.offset) == (6, 1, 6, 1)
    assert [one.now_only for one in shown.resources] == [True, False]
    assert len(shown.clauses) == len(match(job(WANTED), pool()).counts)
    assert page(offset=5, limit=10) == ["poor"]
    assert page(limit=0) == []


def test_a_report_selects_those_that_fail_one_clause() -> None:
    whole = report(match(job(WANTED), pool()))
    for count in whole.clauses:
        fail = page(fails=count.text)
        assert len(fail) == whole.known - count.satisfied
        assert "good" not in fail


def test_a_report_selects_by_kind_text_and_name() -> None:
    assert page(only="matching") == ["good"]
    assert page(only="rejected", limit=2) == ["busy", "silent"]
    assert page(text="not published") == ["silent"]
    assert page(text="POOR") == ["poor"]
    assert page(ces=["poor:2119/jobmanager-fork-q", "nobody", "good:2119/jobmanager-fork-q"]) == [
        "poor",
        "good",
    ]


def test_a_report_without_explanations_still_has_the_reasons() -> None:
    shown = report(match(job(WANTED), pool()), explain=False)
    assert all(not one.clauses for one in shown.resources)
    assert [bool(one.reason) for one in shown.resources] == [False, True, True, True, True, True]


def test_a_report_says_why_a_candidate_stands_where_it_stands() -> None:
    context = Context(close={"good:2119/jobmanager-fork-q": 3})
    shown = report(
        match(job(f"{WANTED} Rank = other.GlueHostBenchmarkSI00;"), pool(), context=context), limit=1
    )
    assert shown.resources[0].order == "3 files of InputData close by, rank 2000, 3 free CPUs to spare"
    assert shown.resources[0].close_files == 3


def test_explanations_of_alike_resources_are_the_ones_of_each() -> None:
    resources = pool()
    together = match(job(WANTED), resources)
    for row in range(6):
        alone = match(job(WANTED), [resources.resource(row)])
        assert together.explain(row) == alone.explain(0)
