"""Who goes first, who holds back whom, and what waiting is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.policies.queues import BoundedBackfill, Fcfs
from broker_core.resources.record import Resource
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.messages import CancelAsked, PoliciesChosen
from broker_core.scheduling.queue.admission import PATIENCE
from tests.scheduling.stage import PLAIN, Stage, resource, stage_matches

S = JobState
MPI = 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2; Executable = "/bin/true";'
INTERACTIVE = 'JobType = "Interactive"; Executable = "/bin/true";'
WIDE = 'JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2; Executable = "/bin/true";'
AHEAD = SchedulerConfig(queue_ahead=1.0, batch_capacity="total")


def test_jobs_start_in_the_order_of_their_arrival() -> None:
    stage = Stage([resource(cpus=1)])
    jobs = stage.submit(number=5)
    for job in jobs:
        assert stage.submits[-1].record.id == job
        stage.through(job)
        stage.run()
    assert [effect.record.id for effect in stage.submits] == jobs


def test_jobs_of_a_sweep_arrive_as_taken_over_and_start_in_their_turn() -> None:
    stage = Stage()
    jobs = stage.submit(number=3, sweep=(EventType.ACCEPTED,))
    held = stage.submit(number=2, sweep=(EventType.ACCEPTED, EventType.HELD))
    assert [effect.record.id for effect in stage.submits] == jobs[:2]
    stage.ended(jobs[0])
    stage.ended(jobs[1])
    stage.run()
    assert [effect.record.id for effect in stage.submits] == jobs
    assert [stage.records[job].held for job in held] == ["as the others"] * 2


def test_no_processor_is_given_out_twice_even_by_an_old_cache() -> None:
    stage = Stage([resource(cpus=2)])
    stage.submit(number=5)
    stage.refresh(resource(cpus=2, free=2))
    stage.run()
    assert len(stage.submits) == 2


def test_processors_of_others_are_not_given_out() -> None:
    stage = Stage([resource(cpus=4, free=1)])
    stage.submit(number=5)
    assert len(stage.submits) == 1


def test_the_head_that_cannot_start_holds_back_those_behind_it() -> None:
    stage = Stage([resource(cpus=2)])
    (first,) = stage.submit()
    (wide,) = stage.submit(PLAIN + "Requirements = other.GlueCEStateFreeCPUs >= 2;")
    (third,) = stage.submit()
    assert [effect.record.id for effect in stage.submits] == [first]
    stage.through(first)
    stage.run()
    assert [effect.record.id for effect in stage.submits][:2] == [first, wide]
    assert stage.state(third) in (S.WAITING, S.READY)


def test_what_nothing_known_can_run_holds_back_nobody_and_says_why() -> None:
    stage = Stage()
    (mpi,) = stage.submit(MPI)
    (plain,) = stage.submit()
    assert stage.state(plain) is S.READY
    assert stage.state(mpi) is S.WAITING
    assert "No site fits" in stage.records[mpi].reason


def test_what_nothing_known_can_run_is_aborted_after_the_timeout() -> None:
    stage = Stage()
    (mpi,) = stage.submit(MPI)
    stage.wait(3500)
    assert stage.state(mpi) is S.WAITING
    stage.wait(200)
    assert stage.state(mpi) is S.ABORTED
    assert stage.records[mpi].reason.startswith("No site fits")


def test_a_job_that_became_possible_is_placed() -> None:
    stage = Stage([resource(cpus=1)])
    (job,) = stage.submit(PLAIN + "Requirements = other.GlueCEInfoTotalCPUs >= 8;")
    assert stage.state(job) is S.WAITING
    stage.refresh(resource(cpus=8))
    stage.run()
    assert stage.state(job) is S.READY


def test_an_interactive_job_that_cannot_start_now_is_aborted_at_once_with_the_reason() -> None:
    stage = Stage()
    (job,) = stage.submit(INTERACTIVE)
    assert stage.state(job) is S.ABORTED
    assert "interactive" in stage.records[job].reason.lower()


def able(site: str) -> Resource:
    found = resource(f"{site}:22/jobmanager-slurm-main", cpus=2)
    found.attributes["CrossDeskAbilities"] = ["interactive"]
    return found


def test_an_interactive_job_waits_a_moment_for_its_site_that_is_being_connected() -> None:
    stage = Stage()
    stage.link("hut", "connecting")
    (job,) = stage.submit(INTERACTIVE, site="hut")
    assert stage.state(job) is S.WAITING
    assert stage.records[job].reason == "Waits a moment for hut to be connected"
    stage.wait(10)
    stage.link("hut")
    assert stage.state(job) is S.WAITING
    stage.refresh(resource(), able("hut"))
    stage.run()
    assert stage.state(job) is S.READY
    assert stage.submits[-1].ce.id.startswith("hut:")


@pytest.mark.parametrize("site", ["hut", ""])
def test_it_waits_not_long_and_the_refusal_names_the_site(site: str) -> None:
    stage = Stage()
    stage.link("hut", "connecting")
    (job,) = stage.submit(INTERACTIVE, site=site)
    stage.wait(PATIENCE - 1)
    assert stage.state(job) is S.WAITING
    stage.wait(2)
    assert stage.state(job) is S.ABORTED
    assert ("at once: hut: not connected yet." in stage.records[job].reason) is bool(site)


def test_it_is_refused_at_once_when_its_site_cannot_be_reached_after_all() -> None:
    stage = Stage()
    stage.link("hut", "connecting")
    (job,) = stage.submit(INTERACTIVE, site="hut")
    stage.link("hut", "retrying", "hut does not answer")
    assert stage.state(job) is S.ABORTED
    assert "at once: hut: it is retrying: hut does not answer." in stage.records[job].reason
    (batch,) = stage.submit(PLAIN, site="hut")
    assert stage.records[batch].reason == "No site fits: hut: it is retrying: hut does not answer"


def test_the_head_is_told_why_it_waits_and_only_once() -> None:
    stage = Stage([resource(cpus=1)])
    _, waiting = stage.submit(number=2)
    stage.wait(400)
    assert stage.types(waiting).count("postponed") == 1
    assert "0 are free" in stage.records[waiting].reason
    assert stage.scheduler.queue_position(waiting) == 1


def test_ten_thousand_equal_jobs_are_matched_in_one_pass() -> None:
    stage = Stage()
    before = stage_matches[0]
    jobs = stage.submit(number=10_000)
    assert stage_matches[0] - before < 20
    assert sum(stage.state(job) is S.WAITING for job in jobs) == 9_998


def test_one_call_takes_over_no_more_than_a_slice() -> None:
    stage = Stage(rules=SchedulerConfig(slice_jobs=50))
    effects = stage.refresh()
    jobs = stage.submit(number=1000)
    assert len(effects) <= 200
    assert all(stage.state(job) is not S.SUBMITTED for job in jobs)


def test_a_pinned_job_goes_to_its_site_only() -> None:
    stage = Stage([resource("a:1/x", cpus=1), resource("b:1/x", cpus=1)])
    jobs = stage.submit(number=2, site="b")
    assert [effect.ce.id for effect in stage.submits] == ["b:1/x"]
    stage.tell(CancelAsked(jobs[1]))
    assert stage.state(jobs[1]) is S.CANCELED


def test_attempts_at_a_site_are_adopted_after_a_restart_and_ready_ones_sent_again() -> None:
    stage = Stage([resource(cpus=2)])
    running, ready, waiting = stage.submit(number=3)
    stage.accepted(running)
    stage.started(running)
    stage.submits.clear()
    stage.restart()
    stage.run()
    assert [(effect.record.id, effect.record.attempt) for effect in stage.submits] == [(ready, 1)]
    assert stage.state(waiting) is S.WAITING
    stage.through(ready)
    stage.ended(running)
    stage.run()
    assert stage.submits[-1].record.id == waiting


def test_a_resource_that_is_the_only_one_may_have_the_next_jobs_in_its_queue() -> None:
    stage = Stage([resource(cpus=2)], AHEAD)
    jobs = stage.submit(number=10)
    assert [effect.record.id for effect in stage.submits] == jobs[:4]
    stage.wait(2)
    stage.through(jobs[0])
    stage.run()
    assert stage.submits[-1].record.id == jobs[4]


def test_more_may_wait_at_the_only_resource_while_jobs_there_are_over_within_a_second() -> None:
    stage = Stage([resource(cpus=2)], AHEAD)
    jobs = stage.submit(number=40)
    stage.wait(0.5)
    stage.through(jobs[0])
    stage.run()
    # Two processors, eight in the queue, and the one that is over.
    assert [effect.record.id for effect in stage.submits] == jobs[:11]
    stage.wait(1.5)
    for job in jobs[1:9]:
        stage.through(job)
        stage.run()
    assert [effect.record.id for effect in stage.submits] == jobs[:13], "they take long now: two in the queue"


def test_where_several_resources_match_no_job_is_bound_before_one_is_free() -> None:
    stage = Stage([resource("a:1/x", cpus=1), resource("b:1/x", cpus=1)], AHEAD)
    stage.submit(number=5)
    assert len(stage.submits) == 2


def test_more_demands_than_a_slice_holds_wait_without_keeping_the_scheduler_busy() -> None:
    stage = Stage([resource(cpus=1)])
    (first,) = stage.submit()
    waiting = [stage.submit(f"{PLAIN} WallTime = {seconds};")[0] for seconds in range(60, 360)]
    assert stage.wake > stage.monotonic, "nothing is left to be done at once"
    stage.through(first)
    stage.run()
    assert stage.state(waiting[0]) is S.READY
    assert stage.state(waiting[1]) is S.WAITING


def test_where_free_processors_alone_count_jobs_wait_in_the_broker() -> None:
    stage = Stage([resource(cpus=2)], replace(AHEAD, batch_capacity="free"))
    jobs = stage.submit(number=10)
    assert [effect.record.id for effect in stage.submits] == jobs[:2]
    stage.through(jobs[0])
    stage.run()
    assert [effect.record.id for effect in stage.submits] == jobs[:3]


def test_where_free_processors_alone_count_small_jobs_pass_a_wide_one_by_backfill_only() -> None:
    for policy, state in ((Fcfs(), S.WAITING), (BoundedBackfill(), S.READY)):
        stage = Stage([resource(cpus=4)], replace(AHEAD, batch_capacity="free"))
        stage.tell(PoliciesChosen(queue=policy))
        stage.submit(number=3)
        (wide,) = stage.submit(WIDE)
        (small,) = stage.submit()
        assert (stage.state(wide), stage.state(small)) == (S.WAITING, state)


def test_the_record_of_a_waiting_job_tells_what_it_met_and_not_where_it_stands() -> None:
    stage = Stage([resource(cpus=1)])
    _, waiting = stage.submit(number=2)
    stage.wait(10)
    assert stage.records[waiting].reason == (
        "Had to wait when its turn came: needs 1 CPU, 0 are free where it could run"
    )


def test_who_leaves_while_the_queue_is_told_bit_by_bit_is_left_out() -> None:
    stage = Stage([resource(cpus=1)])
    sent, first, second = stage.submit(number=3)
    (held,) = stage.submit(hold="later")
    whole = [(one.job.id, one.state) for one in stage.scheduler.queue(stage.monotonic)]
    assert whole == [(first, "queued"), (second, "queued"), (sent, "sent"), (held, "held")]
    queue = stage.scheduler.queue(stage.monotonic)
    told = [next(queue)]
    stage.through(sent)
    stage.run()
    told += queue
    assert [one.job.id for one in told] == [first, second, held]
