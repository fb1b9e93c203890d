"""Whom a waiting job holds back, and what the queue policy changes about it (CB-SCH-07, CB-SCH-09)."""

from __future__ import annotations

from dataclasses import replace

from broker_core.jobs.states import JobState
from broker_core.policies.queues import BoundedBackfill
from broker_core.scheduling.messages import CancelAsked, PoliciesChosen
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
A, B = "a:1/x", "b:1/x"


def on(*sites: str) -> str:
    """A description that asks for one of some sites."""
    wanted = " || ".join(f'other.GlueCEUniqueID == "{site}"' for site in sites)
    return f"{PLAIN} Requirements = {wanted};"


def wide(cpus: int, *sites: str) -> str:
    kind = f'JobType = "Parallel"; SubJobType = "plain"; NodeNumber = {cpus};'
    return kind + (on(*sites) if sites else PLAIN)


def two() -> Stage:
    return Stage([resource(A, cpus=2), resource(B, cpus=2)])


def test_a_job_holds_back_nobody_who_could_use_nothing_that_it_could_use() -> None:
    stage = two()
    stage.submit(on(A), number=2)
    (blocked,) = stage.submit(on(A))
    (other,) = stage.submit(on(B))
    assert (stage.state(blocked), stage.state(other)) == (S.WAITING, S.READY)


def test_a_job_holds_back_one_that_could_use_the_same_resource_even_if_another_is_free() -> None:
    stage = two()
    (running,) = stage.submit(on(A))
    (blocked,) = stage.submit(wide(2, A))
    (behind,) = stage.submit(on(A, B))
    assert stage.state(blocked) is stage.state(behind) is S.WAITING
    why = stage.scheduler.why(behind, stage.monotonic)
    assert why is not None
    assert (why.held_back_by, why.position, why.matching_now, why.matching_ever) == (blocked, 2, 2, 2)
    assert why.headline == "1 job is before it: true needs 2 CPUs, 1 is free where it could run"
    stage.through(running)
    stage.run()
    assert stage.state(blocked) is stage.state(behind) is S.READY


def test_those_behind_a_job_that_leaves_are_looked_at_again() -> None:
    stage = two()
    stage.submit(on(A))
    (blocked,) = stage.submit(wide(2, A))
    (behind,) = stage.submit(on(A))
    stage.tell(CancelAsked(blocked))
    stage.run()
    assert stage.state(behind) is S.READY


def test_jobs_without_a_common_resource_go_on_each_in_their_order() -> None:
    stage = Stage([resource(A, cpus=1), resource(B, cpus=1)])
    at_a = stage.submit(on(A), number=3)
    at_b = stage.submit(on(B), number=3)
    stage.through(at_b[0])
    stage.run()
    assert [effect.record.id for effect in stage.submits] == [at_a[0], at_b[0], at_b[1]]


def test_an_interactive_job_passes_the_whole_queue_or_ends_at_once() -> None:
    stage = two()
    stage.submit(on(A))
    (blocked,) = stage.submit(wide(2, A))
    ready = resource(A, cpus=2)
    ready.attributes["CrossDeskAbilities"] = ["interactive"]
    stage.refresh(ready, resource(B, cpus=2))
    interactive = 'JobType = "Interactive"; Executable = "/bin/true";'
    (first,) = stage.submit(interactive)
    (second,) = stage.submit(interactive)
    assert (stage.state(blocked), stage.state(first), stage.state(second)) == (S.WAITING, S.READY, S.ABORTED)
    assert "busy" in stage.records[second].reason


def test_bounded_backfill_gives_no_more_than_the_blocked_job_needs() -> None:
    stage = Stage([resource(A, cpus=60, free=31)])
    stage.tell(PoliciesChosen(queue=BoundedBackfill()))
    (head,) = stage.submit(wide(32))
    (sixteen,) = stage.submit(wide(16))
    (ten,) = stage.submit(wide(10))
    stage.refresh(resource(A, cpus=60, free=25 + 5))
    (twenty,) = stage.submit(wide(20))
    (two_,) = stage.submit(wide(2))
    states = [stage.state(job) for job in (head, sixteen, ten, twenty, two_)]
    assert states == [S.WAITING, S.READY, S.READY, S.WAITING, S.READY]


def test_with_first_come_first_served_nobody_passes() -> None:
    stage = Stage([resource(A, cpus=60, free=31)])
    jobs = [stage.submit(wide(cpus))[0] for cpus in (32, 16, 10)]
    assert {stage.state(job) for job in jobs} == {S.WAITING}


def test_a_change_of_the_queue_policy_lets_waiting_jobs_go() -> None:
    stage = Stage([resource(A, cpus=60, free=31)])
    jobs = [stage.submit(wide(cpus))[0] for cpus in (32, 16, 10)]
    stage.tell(PoliciesChosen(queue=BoundedBackfill()))
    stage.wait(121)
    assert [stage.state(job) for job in jobs] == [S.WAITING, S.READY, S.READY]


def test_the_queue_tells_of_every_waiting_job_where_it_stands_and_why() -> None:
    stage = Stage([resource(A, cpus=1), resource(B, cpus=1)])
    sent, first, second = stage.submit(on(A), number=3)
    (parked,) = stage.submit(f"{PLAIN} Requirements = other.GlueCEInfoTotalCPUs > 99;")
    (held,) = stage.submit(hold="not yet")
    queue = {one.job.id: one for one in stage.scheduler.queue(stage.monotonic)}
    assert list(queue)[:2] == [first, second]
    shown = {job: (one.position, one.blocking, one.state) for job, one in queue.items()}
    assert shown == {
        first: (1, "", "queued"),
        second: (2, first, "queued"),
        sent: (0, "", "sent"),
        parked: (0, "", "parked"),
        held: (0, "", "held"),
    }
    assert "0 are free" in queue[first].reason
    assert queue[parked].reason.startswith("No site fits")
    assert queue[held].reason == "not yet"


def test_a_job_behind_others_is_told_the_name_and_the_wants_of_the_first_of_them() -> None:
    stage = Stage([resource(A, cpus=2)])
    stage.submit(number=2)
    (first,) = stage.submit(wide(2) + 'JobName = "wide-one";')
    second, third = stage.submit(number=2)
    reasons = {one.job.id: one.reason for one in stage.scheduler.queue(stage.monotonic) if one.position}
    needs = "needs 2 CPUs, 0 are free where it could run"
    assert reasons == {
        first: f"Next in the queue; {needs}",
        second: f"1 job is before it: wide-one {needs}",
        third: f"2 jobs are before it: wide-one {needs}",
    }
    assert [stage.scheduler.waits_for(job, stage.monotonic) for job in reasons] == list(reasons.values())


def test_the_name_of_a_job_is_not_told_to_other_users() -> None:
    stage = Stage([resource(A, cpus=2)])
    stage.submit(number=2)
    (first,) = stage.submit(wide(2) + 'JobName = "secret";')
    (second,) = stage.submit()
    job = stage.scheduler.job(first)
    assert job is not None
    job.record = replace(job.record, owner="bob")
    told = stage.scheduler.waits_for(second, stage.monotonic)
    assert told.startswith("1 job is before it: a job of another user needs 2 CPUs")
