"""Conditions of installed packages on sets of computing elements (SA-SEL-05)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from broker_core.broker.matchmaking.collective_conditions import GROUP, collective_conditions
from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest
from broker_core.jdl.check import Limits, check
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.matching.report import report
from broker_core.matching.sets.collective import FREE_CPUS, TRIALS_MAX, SetMember
from broker_core.wire.matches import MatchReport
from tests.broker.made_package import add_package
from tests.matching.made import job, resource

_MODULE = """
import time

def two_countries(members, wanted):
    return len({one.attributes["gluesiteuniqueid"] for one in members}) > 1

def spare(members, wanted):
    return sum(one.free_cpus for one in members) >= wanted + 4

def fails(members, wanted):
    return 1 / 0

def asks(members, wanted):
    time.sleep(0.06)
    return True

def odd(members, wanted):
    return "yes"

number = 7
"""
_NAMES = ("two_countries", "spare", "asks", "fails", "odd", "number", "nothing")
_POINTS = f"[{GROUP}]\n" + "".join(f"{name} = conditions_made:{name}\n" for name in _NAMES)
_JOB = 'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 10; JobArch = "Inter"; '
_TAGS = "GlueHostApplicationSoftwareRunTimeEnvironment"
_UNUSABLE = "The collective condition (number|nothing) cannot be"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with conditions, two of which cannot be used."""
    add_package(tmp_path, "conditions_made", _MODULE, _POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    collective_conditions.cache_clear()
    yield
    collective_conditions.cache_clear()


def found_by(name: str) -> Matches:
    sizes = {"a": (4, "es"), "b": (8, "es"), "c": (2, "pl"), "d": (16, "es")}
    resources = [
        resource(one, free, free, GlueSiteUniqueID=country, **{_TAGS: ["PACX-MPI"]})
        for one, (free, country) in sizes.items()
    ]
    context = Context(assume_abilities=True, collective=collective_conditions())
    return match(job(f'{_JOB} CollectiveCondition = "{name}";'), resources, context=context)


def sets(found: Matches) -> list[str]:
    return [
        "".join(sorted(found.candidates[at].resource.site for at in group.members)) for group in found.groups
    ]


@pytest.mark.expected_log(_UNUSABLE)
@pytest.mark.usefixtures("package")
def test_a_condition_of_an_installed_package_decides_which_sets_there_are() -> None:
    assert sets(found_by(FREE_CPUS)) == ["d", "bc", "ab"]
    assert sorted(sets(found_by("two_countries"))) == ["bc", "cd"]
    assert sorted(sets(found_by("spare"))) == ["abc", "d"]
    found = found_by("spare")
    assert not found.notes
    assert "mode=collective" in found.trace()[0]
    assert sum(found.grouping.cpus(found.groups[1], 10)) == 10


@pytest.mark.expected_log(_UNUSABLE)
@pytest.mark.expected_log("asks took 0.* s for one set of 1: the broker does nothing else meanwhile")
@pytest.mark.usefixtures("package")
def test_a_slow_condition_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    assert sorted(sets(found_by("asks"))) == ["ab", "bc", "d"]
    assert sum(" took " in record.getMessage() for record in caplog.records) == 1


@pytest.mark.expected_log(_UNUSABLE)
@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("fails", "ZeroDivisionError: division by zero"),
        ("odd", "TypeError: it answered str, not True or False"),
        ("gone", "LookupError: it is not installed here"),
    ],
)
def test_a_condition_that_fails_is_told_by_its_name_and_free_cpus_count(name: str, why: str) -> None:
    found = found_by(name)
    assert sets(found) == ["d", "bc", "ab"]
    said = f"The collective condition {name} failed, free CPUs alone count: {why}."
    assert report(found).notes == said


@pytest.mark.expected_log(_UNUSABLE)
@pytest.mark.usefixtures("package")
def test_a_name_that_nobody_brought_is_refused_with_its_place_and_the_names_there_are() -> None:
    known = tuple(collective_conditions())
    assert known == (FREE_CPUS, "asks", "fails", "odd", "spare", "two_countries")
    text = 'Executable = "/a";\nCollectiveCondition = "spar";'
    checked = check(text, limits=Limits(collective_conditions=known))
    (error,) = checked.errors
    assert (error.code, error.line, error.attribute.lower()) == (
        "collective-condition-unknown",
        2,
        "collectivecondition",
    )
    assert error.message == (
        "There is no collective condition 'spar' here. Use free-cpus, asks, fails, odd, spare, two_countries."
    )
    assert not check(text.replace("spar", "spare"), limits=Limits(collective_conditions=known)).errors
    assert not check(text, limits=Limits()).errors, "who does not know which there are refuses none"


@pytest.mark.expected_log(_UNUSABLE)
@pytest.mark.usefixtures("package")
def test_of_very_many_computing_elements_only_some_sets_are_looked_at() -> None:
    resources = [
        resource(f"s{number:03}", 1, 1, GlueSiteUniqueID=f"{number}", **{_TAGS: ["PACX-MPI"]})
        for number in range(150)
    ]
    context = Context(assume_abilities=True, collective=collective_conditions())
    text = _JOB.replace("10", "4") + 'CollectiveCondition = "two_countries";'
    found = match(job(text), resources, context=context)
    assert {len(one.members) for one in found.groups} == {4}
    assert any(f"limit trials={TRIALS_MAX}" in line for line in found.trace())


@pytest.mark.usefixtures("package")
@pytest.mark.expected_log(_UNUSABLE)
def test_more_single_computing_elements_than_are_looked_at_leave_room_for_sets() -> None:
    resources = [
        resource(f"s{number:04}", GlueSiteUniqueID=f"{number}", **{_TAGS: ["PACX-MPI"]})
        for number in range(TRIALS_MAX + 1)
    ]
    context = Context(assume_abilities=True, collective=collective_conditions())
    text = _JOB.replace("10", "4") + 'CollectiveCondition = "two_countries";'
    found = match(job(text), resources, context=context).groups
    assert {len(one.members) for one in found} == {2}


@pytest.mark.usefixtures("package")
@pytest.mark.expected_log(_UNUSABLE)
def test_a_condition_sees_what_is_published_of_a_member() -> None:
    seen = []

    def look(members: Sequence[SetMember], wanted: int) -> bool:
        seen.extend(members)
        return True

    context = Context(assume_abilities=True, collective={"spare": look})
    made = resource("a", GlueSiteUniqueID="x", **{_TAGS: ["PACX-MPI"]})
    text = _JOB.replace("10", "4") + 'CollectiveCondition = "spare";'
    found = match(job(text), [made], context=context)
    assert len(found.groups) == 1
    (one,) = seen
    assert dict(one.attributes) == found.view.pool.values(0)
    assert (len(one.attributes), one.attributes["gluesiteuniqueid"]) == (len(dict(one.attributes)), "x")
    assert one.attributes.get("nothing") is None


def test_without_packages_there_is_the_built_in_condition_alone() -> None:
    collective_conditions.cache_clear()
    assert list(collective_conditions()) == [FREE_CPUS]


async def test_a_broker_refuses_a_name_that_it_does_not_have(client: BrokerClient) -> None:
    text = f'Executable = "/bin/true";{_JOB} CollectiveCondition = "nowhere";'
    (error,) = [one for one in (await client.check(text)).diagnostics if one.severity == "error"]
    assert "There is no collective condition 'nowhere' here. Use free-cpus." in error.message
    matched = await client.match(text.replace("nowhere", FREE_CPUS))
    assert matched.notes == ""
    older = matched.model_dump(exclude={"notes"}) | {"policy_note": "said by an older broker"}
    assert MatchReport.model_validate(older).notes == "said by an older broker"
    with pytest.raises(BadRequest):
        await client.match(text)
