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


def test_a_site_whose_nodes_give_programs_no_network_takes_no_part_and_says_what_its_test_said() -> None:
    why = "Users can make no network of their own on this node (/dev/net/tun: No such file)."
    mixed = [site("a", 9, Overlay="yes"), site("b", 9), site("c", 9, Overlay=why)]
    found = match(job(over("pacx-mpi")), mixed, context=DEFAULT)
    assert groups(found) == ["ab"]
    reasons = {one.site: one.reason for one in report(found).resources}
    assert reasons["c"] == f"a test job there says: {why}"


def test_a_component_by_way_of_the_broker_has_no_more_cpus_than_a_node() -> None:
    small = [site("a", 9, GlueHostArchitectureSMPSize=4), site("b", 9, GlueHostArchitectureSMPSize=6)]
    small.append(site("c", 9, GlueHostArchitectureSMPSize="many"))
    found = match(job(over("pacx-mpi")), small, context=DEFAULT)
    shares = [sorted(found.grouping.cpus(one, 10)) for one in found.groups]
    assert dict(zip(groups(found), shares, strict=True)) == {"ab": [4, 6], "ac": [1, 9], "bc": [1, 9]}
    public = [
        site(name, 9, GlueHostArchitectureSMPSize=2, GlueHostNetworkAdapterInboundIP=True) for name in "ab"
    ]
    assert groups(match(job(over("mpich-g2")), public, context=DEFAULT)) == ["ab"]
    assert not groups(match(job(over("pacx-mpi")), public, context=DEFAULT))


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


def test_the_report_says_where_each_component_would_be_and_which_one_fits_nowhere() -> None:
    parts = over(more="SubJobs = { [ NodeNumber = 2 ], [ NodeNumber = 3; Requirements = other.X > 1 ] };")
    there = [site("a", 9, X=2), site("b", 9, X=1)]
    shown = report(match(job(parts), there, context=DEFAULT))
    both = [(group.cpus, [(one.member, one.cpus) for one in group.components]) for group in shown.groups]
    assert both == [([5], [(0, 2), (0, 3)]), ([2, 3], [(0, 2), (1, 3)])]
    lacking = report(match(job(parts), [site("a", 2, X=2), site("b", 9, X=1)], context=DEFAULT))
    assert lacking.advice == (
        "2 of 2 match, but component 2 of SubJobs needs 3 CPUs, and those that meet its Requirements have 2"
        " at most."
    )
    assert report(match(job(over()), sites(a=4, b=6), context=DEFAULT)).groups[0].components == []


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
