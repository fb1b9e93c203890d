"""Users share the queue of one broker (reliability case 22); for each it is first come first served."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from broker_core.jobs.states import JobState
from broker_core.scheduling.queue.shares import FairShares
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
WIDE = 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 4; Executable = "/bin/true";'


def served(stage: Stage) -> list[str]:
    """Owners in the order in which their jobs were sent."""
    return [submit.record.owner for submit in stage.submits]


def drain(stage: Stage, jobs: int) -> None:
    """Let so many jobs end, the one that was sent first at first."""
    for submit in stage.submits[:jobs]:
        stage.through(submit.record.id)
        stage.run()


def test_one_job_of_a_user_does_not_wait_for_the_many_of_another() -> None:
    stage = Stage([resource(cpus=1)])
    stage.submit(PLAIN, 500, owner="ann")
    drain(stage, 1)
    (single,) = stage.submit(PLAIN, 1, owner="bob")
    assert stage.scheduler.queue_position(single) <= 2
    for _ in range(2):
        drain(stage, len(stage.submits))
    assert stage.state(single) is not S.WAITING


def test_two_users_take_turns_by_processors() -> None:
    stage = Stage([resource(cpus=1)])
    stage.submit(PLAIN, 40, owner="ann")
    stage.submit(PLAIN, 40, owner="bob")
    while len(stage.submits) < 41:
        drain(stage, len(stage.submits))
    counts = {owner: served(stage)[1:41].count(owner) for owner in ("ann", "bob")}
    assert abs(counts["ann"] - counts["bob"]) <= 2


def test_who_asks_for_many_processors_gets_as_many_of_them_as_who_asks_for_few() -> None:
    able = resource(cpus=4)
    able.attributes["GlueHostApplicationSoftwareRunTimeEnvironment"] = ["OPENMPI"]
    stage = Stage([able])
    stage.submit(WIDE, 40, owner="ann")
    stage.submit(PLAIN, 160, owner="bob")
    while len(stage.submits) < 50:
        drain(stage, len(stage.submits))
    wide, narrow = served(stage)[:50].count("ann"), served(stage)[:50].count("bob")
    assert abs(4 * wide - narrow) <= 8


def test_jobs_of_one_user_are_first_come_first_served() -> None:
    stage = Stage([resource(cpus=1)])
    jobs = [*stage.submit(PLAIN, 3), *stage.submit(PLAIN, 3)]
    while len(stage.submits) < 6:
        drain(stage, len(stage.submits))
    assert [submit.record.id for submit in stage.submits] == jobs


def test_a_user_is_taken_over_while_the_many_jobs_of_another_are_not_yet() -> None:
    stage = Stage([resource(cpus=1)])
    stage.submit(PLAIN, 5000, owner="ann", run=False)
    (single,) = stage.submit(PLAIN, 1, owner="bob", run=False)
    assert stage.scheduler.backlog > 4000
    assert stage.state(single) is S.WAITING, "taken over with the first slice after its submission"
    stage.run()
    assert stage.scheduler.backlog == 0


def test_a_user_who_was_away_gets_no_credit_for_it() -> None:
    stage = Stage([resource(cpus=1)])
    stage.submit(PLAIN, 100, owner="ann")
    while len(stage.submits) < 50:
        drain(stage, len(stage.submits))
    stage.submit(PLAIN, 100, owner="bob")
    while len(stage.submits) < 70:
        drain(stage, len(stage.submits))
    assert 8 <= served(stage)[50:70].count("ann") <= 12


@given(
    some.lists(
        some.tuples(some.sampled_from("abc"), some.integers(0, 50), some.booleans()), min_size=1, max_size=80
    )
)
def test_places_are_never_equal_and_rise_for_each_user(asked: list[tuple[str, int, bool]]) -> None:
    shares = FairShares()
    given: dict[str, list[int]] = {}
    for owner, cpus, placed in asked:
        order = shares.next(owner)
        shares.took(owner, order + shares.step(cpus))
        given.setdefault(owner, []).append(order)
        if placed:
            shares.assigned(order)
    every = [order for orders in given.values() for order in orders]
    assert len(set(every)) == len(every)
    assert all(orders == sorted(orders) for orders in given.values())
