"""Jobs over several computing elements, from the description to the groups (CB-SET-01, CB-SET-02)."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.matching.report import report
from broker_core.matching.sets.trace import read
from broker_core.resources.record import Resource
from tests.matching.made import job, resource

DEFAULT = Context(assume_abilities=True)


def sites(**free: int) -> list[Resource]:
    return [site(name, count) for name, count in free.items()]


def site(name: str, free: int, *tags: str, **more: Any) -> Resource:
    kinds = ["PACX-MPI", "MPICH-G2", *tags]
    return resource(name, 9, free, GlueHostApplicationSoftwareRunTimeEnvironment=kinds, **more)


def over(kind: str = "pacx-mpi", more: str = "NodeNumber = 10;") -> str:
    return f'JobType = "Parallel"; SubJobType = "{kind}"; {more}'


def groups(found: Matches) -> list[str]:
    return ["".join(sorted(found.candidates.ids[at][0] for at in one.members)) for one in found.groups]


def test_mpich_g2_uses_only_sites_with_public_addresses_and_pacx_mpi_any() -> None:
    mixed = [
        site("a", 9, GlueHostNetworkAdapterInboundIP=True),
        site("b", 9, GlueHostNetworkAdapterInboundIP=False),
        site("c", 2, GlueHostNetworkAdapterInboundIP=True),
        site("d", 2),
    ]
    public = match(job(over("mpich-g2")), mixed, context=DEFAULT)
    assert groups(public) == ["ac"]
    assert {one.resource.site for one in public.rejected} == {"b", "d"}
    assert groups(match(job(over("pacx-mpi")), mixed, context=DEFAULT)) == ["ac", "ad", "bc", "bd", "ab"]


def test_a_site_counts_with_the_cpus_that_one_job_may_use() -> None:
    limited = site("a", 9, "PolicyMaxSlotsPerJobs_q=4")
    found = match(job(over()), [limited, site("b", 5), site("c", 6)], context=DEFAULT)
    assert groups(found) == ["ac", "bc"]
    first = report(found).groups[0]
    assert dict(zip((one.site for one in first.members), first.cpus, strict=True)) == {"a": 4, "c": 6}


def test_fixed_components_get_a_place_each_by_their_own_requirements() -> None:
    text = over(
        more="""SubJobs = {
            [ NodeNumber = 5; Requirements = other.GlueHostMainMemoryRAMSize >= 1024 ],
            [ NodeNumber = 3; Rank = other.GlueHostBenchmarkSI00 ] };"""
    )
    there = [
        site("a", 9, GlueHostMainMemoryRAMSize=2048, GlueHostBenchmarkSI00=1),
        site("b", 4, GlueHostMainMemoryRAMSize=512, GlueHostBenchmarkSI00=5),
        site("c", 9, GlueHostMainMemoryRAMSize=512, GlueHostBenchmarkSI00=3),
    ]
    found = match(job(text), there, context=DEFAULT)
    assert groups(found) == ["a", "ab", "ac"]
    shown = report(found)
    assert shown.groups[1].calculation == "(5 × 0 + 3 × 5) / 8 = 1.875"
    assert [step.kind for step in read(shown.trace)] == ["begin", "matched", "matched", "matched", "end"]
    assert [(one.cpus, one.rank) for one in shown.groups] == [
        ([8], pytest.approx(3 / 8)),
        ([5, 3], pytest.approx(15 / 8)),
        ([5, 3], pytest.approx(9 / 8)),
    ]


def test_modes_and_bounds_come_from_the_settings() -> None:
    there = sites(a=4, b=3, c=6)
    orders = {
        mode: groups(match(job(over()), there, context=Context(assume_abilities=True, set_mode=mode)))
        for mode in ("minimal", "listing")
    }
    assert orders == {"minimal": ["ac"], "listing": ["ac"]}
    ranked = job(over() + " Rank = -other.GlueCEStateRunningJobs;")
    none = Context(assume_abilities=True, max_ces_per_set=1)
    assert groups(match(ranked, there, context=none)) == []


def test_the_report_tells_how_a_rank_was_made_and_the_steps_of_the_selection() -> None:
    there = [site("a", 4, GlueHostBenchmarkSI00=400), site("b", 8, GlueHostBenchmarkSI00=460)]
    found = match(job(over() + " Rank = other.GlueHostBenchmarkSI00;"), there, context=DEFAULT)
    shown = report(found)
    (group,) = shown.groups
    assert group.calculation in ("(8 × 460 + 4 × 400) / 12 = 440", "(4 × 400 + 8 × 460) / 12 = 440")
    assert sorted(zip((one.site for one in group.members), group.cpus, strict=True)) == [("a", 2), ("b", 8)]
    matched = [step for step in read(shown.trace) if step.kind == "matched"]
    assert [sorted(step.ces) for step in matched] == [sorted(one.ce for one in group.members)]


def test_a_job_for_one_site_has_no_sets_and_no_trace() -> None:
    shown = report(match(job(), sites(a=1)))
    assert (shown.groups, shown.trace) == ([], [])
