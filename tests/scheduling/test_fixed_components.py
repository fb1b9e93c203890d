"""Jobs that fix their components in SubJobs (CB-JOB-05, CB-SET-11) in the production scheduler."""

from __future__ import annotations

import pytest

from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.components import coallocation_of
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState as S
from tests.scheduling.components import components, gathered, held, together
from tests.scheduling.over_several import A, B, C, fixed, sites
from tests.scheduling.stage import Stage


def at(stage: Stage) -> list[tuple[str, int]]:
    """Computing element and index of all that was handed over."""
    return [(one.ce.id, one.component.index) for one in stage.submits]


def test_components_go_where_their_own_requirements_hold_in_the_order_of_the_description() -> None:
    stage = Stage(sites(A, B, C))
    (job,) = stage.submit(fixed((2, f'other.GlueCEUniqueID == "{B}"'), (4, f'other.GlueCEUniqueID == "{A}"')))
    assert at(stage) == [(B, 0), (A, 1)]
    assert [(one.ce.id, one.cpus) for one in stage.scheduler.job(job).placements] == [(B, 2), (A, 4)]  # type: ignore[union-attr]
    together(stage, job, 2)
    assert stage.state(job) is S.DONE
    story = coallocation_of(stage.stories[job])
    assert story is not None
    assert [(one.site, one.cpus, one.ranks) for one in story.components] == [("b", 2, "0-1"), ("a", 4, "2-5")]


def test_two_components_at_one_site_stay_two_and_have_their_cpus_there_together() -> None:
    stage = Stage(sites(A, B))
    (job,) = stage.submit(fixed((1, "true"), (2, "true")))
    (ce,) = {one.ce.id for one in stage.submits}
    assert at(stage) == [(ce, 0), (ce, 1)]
    assert stage.scheduler.cache.commitments_at(ce)[job].cpus == 3
    record = stage.records[job]
    assert (record.sites, record.components_at(ce[0])) == (ce[0], [Component(job, 1), Component(job, 1, 1)])
    held(stage, job)
    stage.restart(died=True)
    assert stage.scheduler.cache.commitments_at(ce)[job].cpus == 3
    assert [one.cpus for one in stage.scheduler.job(job).placements] == [1, 2]  # type: ignore[union-attr]
    gathered(stage, job)
    story = coallocation_of(stage.stories[job])
    assert story is not None
    assert story.barrier == "All 2 components reached MPI_Init, and the barrier was released."
    together(stage, job, 2)
    assert (stage.state(job), stage.scheduler.cache.commitments_at(ce)) == (S.DONE, {})


def test_who_waits_at_one_site_for_two_components_is_told_its_name_once() -> None:
    stage = Stage(sites(A, B))
    (job,) = stage.submit(fixed((1, "true"), (2, "true"), (4, f'other.GlueCEUniqueID == "{B}"')))
    held(stage, job, 3)
    gathered(stage, job, 1)
    story = coallocation_of(stage.stories[job])
    assert story is not None
    assert story.barrier == "1 of 3 components reached MPI_Init; those there wait for a and b."


def test_a_single_component_is_a_job_at_one_site() -> None:
    stage = Stage(sites(A))
    (job,) = stage.submit(fixed((3, "true")))
    assert at(stage) == [(A, 0)]
    assert len(stage.records[job].placements) == 1


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (
            ((5, "true"),),
            "component 1 of SubJobs needs 5 CPUs, and those that meet its Requirements have 4 at most",
        ),
        (
            ((1, "true"), (2, "other.GlueHostMainMemoryRAMSize > 1")),
            "component 2 of SubJobs finds none that meets its Requirements",
        ),
        (((3, "true"),) * 3, "the components of SubJobs do not find room there together"),
    ],
    ids=["too large", "unmet", "together"],
)
def test_the_job_says_which_component_fits_nowhere(parts: tuple[tuple[int, str], ...], reason: str) -> None:
    stage = Stage(sites(A, B))
    (job,) = stage.submit(fixed(*parts))
    assert (stage.state(job), stage.submits) == (S.WAITING, [])
    assert stage.records[job].reason == f"No site fits: of all resources that match, {reason}"


def test_a_component_that_is_refused_is_given_another_site_and_the_others_theirs() -> None:
    stage = Stage(sites(A, B, C))
    (job,) = stage.submit(fixed((4, "true"), (4, "true")))
    one, two = components(stage, job)
    refused = stage.submits[1].ce.id
    stage.tell(AttemptRefused(two, "queue is closed"))
    stage.tell(AttemptEnded(one, stage.wall, failure="killed"))
    assert refused not in {each.ce.id for each in stage.submits[2:]}
    assert [each.component.index for each in stage.submits[2:]] == [0, 1]
