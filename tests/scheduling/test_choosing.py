"""Which resource is chosen: the short ways give what the policy gives, and sets are taken whole."""

from __future__ import annotations

import random
from dataclasses import replace

from broker_core.jdl.check import check
from broker_core.jobs.attempt_events import AttemptRefused
from broker_core.jobs.failure_history import ChoiceFailure
from broker_core.jobs.placement import Component, shared
from broker_core.jobs.states import JobState
from broker_core.jobs.story import EXPECTED_WAIT
from broker_core.jobs.transitions import EventType
from broker_core.policies.built_in import best_fit, worst_fit
from broker_core.policies.policy import Choices, Request
from broker_core.resources.record import Resource
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.messages import PoliciesChosen, StartForetold
from tests.scheduling.components import together
from tests.scheduling.stage import PLAIN, Stage, resource

S = JobState
A, B = "a:1/x", "b:1/x"
OVER_SITES = (
    'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 10; JobArch = "Inter"; Executable = "/a";'
)


def best_fit_by_the_policy(choices: Choices, request: Request) -> list[int]:
    """The built-in order, but not by the short way that the scheduler knows for it."""
    return [int(place) for place in best_fit(choices, request)]


def some_sites(chance: random.Random) -> list[Resource]:
    found = []
    for number in range(chance.randrange(1, 12)):
        total = chance.randrange(1, 9)
        speed = {"GlueHostBenchmarkSI00": chance.choice((400, 500, 600))}
        free, waiting = chance.randrange(total + 1), chance.randrange(20)
        found.append(Resource(f"ce{number:02}:1/x", f"ce{number:02}", total, free, 0, waiting, 0.0, speed))
    return found


def test_the_short_way_of_best_fit_chooses_what_the_policy_chooses() -> None:
    chance = random.Random(7)
    texts = [
        f'JobType = "Parallel"; SubJobType = "plain"; NodeNumber = {cpus}; {PLAIN} {more}'
        for cpus in (1, 2, 4)
        for more in ("", "Rank = other.GlueHostBenchmarkSI00;", "Rank = other.NoSuchThing;")
    ]
    for _ in range(60):
        sites = some_sites(chance)
        short, full = Stage(sites), Stage(sites)
        full.tell(PoliciesChosen(order=best_fit_by_the_policy))
        for _ in range(12):
            text = chance.choice(texts)
            for stage in (short, full):
                stage.submit(text)
                if stage.submits and len(stage.submits) % 3 == 0:
                    stage.through(stage.submits[-1].record.id)
                    stage.run()
        assert [effect.ce.id for effect in short.submits] == [effect.ce.id for effect in full.submits]


def test_another_policy_decides_as_soon_as_it_is_chosen() -> None:
    stage = Stage([resource(A, cpus=2), resource(B, cpus=8)])
    stage.submit()
    stage.tell(PoliciesChosen(order=worst_fit))
    stage.submit()
    assert [effect.ce.id for effect in stage.submits] == [A, B]


def test_a_policy_that_fails_is_replaced_by_the_built_in_one_and_the_log_of_decisions_says_so() -> None:
    def broken(choices: Choices, request: Request) -> list[int]:
        raise ValueError("no order today")

    stage = Stage([resource(A, cpus=2), resource(B, cpus=8)])
    stage.tell(PoliciesChosen(order=broken))
    stage.submit()
    assert [effect.ce.id for effect in stage.submits] == [A]
    told = [one.reason for one in stage.scheduler.decisions.after(0, 100) if one.what == "policy"]
    assert told == ["ValueError: no order today"]
    assert stage.scheduler.policy_problem == "ValueError: no order today"
    stage.tell(PoliciesChosen(order=broken))
    assert stage.scheduler.policy_problem
    stage.tell(PoliciesChosen(order=worst_fit))
    assert stage.scheduler.policy_problem == ""


def test_a_policy_that_does_well_again_has_no_problem() -> None:
    def moody(choices: Choices, request: Request) -> list[int]:
        return [0] if len(choices) == 1 else [7]

    stage = Stage([resource(A, cpus=1), resource(B, cpus=8)])
    stage.tell(PoliciesChosen(order=moody))
    stage.submit()
    assert "named choice 7" in stage.scheduler.policy_problem
    stage.submit()
    assert stage.scheduler.policy_problem == ""


def test_a_rank_that_reads_free_cpus_is_evaluated_for_every_job() -> None:
    stage = Stage([resource(A, cpus=3), resource(B, cpus=4)])
    stage.submit(PLAIN + "Rank = other.GlueCEStateFreeCPUs;", number=7)
    assert [effect.ce.id[0] for effect in stage.submits] == list("bababab")


def test_a_choice_that_refused_is_not_tried_again_in_the_same_round_nor_one_without_room() -> None:
    stage = Stage([resource(A, cpus=1), resource(B, cpus=2), resource("c:1/x", cpus=3)])
    (job,) = stage.submit()
    stage.tell(AttemptRefused(Component(job, 1), "full disk"))
    stage.tell(AttemptRefused(Component(job, 2), "no account"))
    trying = stage.scheduler.why(job, stage.monotonic)
    assert trying is not None
    assert trying.trying == ("c:1/x",)
    assert [effect.ce.id for effect in stage.submits] == [A, B, "c:1/x"]
    stage.tell(AttemptRefused(Component(job, 3), "down", down=True))
    assert stage.state(job) is S.WAITING
    why = stage.scheduler.why(job, stage.monotonic)
    assert why is not None
    failed = [ChoiceFailure((A,), "full disk"), ChoiceFailure((B,), "no account")]
    assert why.failed == [*why.tried] == [*failed, ChoiceFailure(("c:1/x",), "down")]
    assert why.trying == ()
    assert why.next_round is not None
    assert "may be used now" in why.headline
    assert [one.what for one in stage.scheduler.decisions.after(0, 100)] == [
        "chosen", "next-choice", "next-choice", "re-matched",
    ]  # fmt: skip
    told = [one.details["failed"] for one in stage.stories[job] if one.type is EventType.CHOICE_FAILED]
    assert told == [one.details() for one in failed]


def over_sites() -> list[Resource]:
    able = {
        "CrossDeskAbilities": ["inter-cluster"],
        "GlueHostApplicationSoftwareRunTimeEnvironment": ["PACX-MPI"],
        "GlueHostNetworkAdapterInboundIP": True,
    }
    return [Resource(name, name[0], 5, 5, 0, 0, 0.0, able) for name in (A, B)]


def test_of_two_jobs_over_the_same_two_sites_one_gets_both_and_the_other_waits_for_both() -> None:
    stage = Stage(over_sites())
    first, second = stage.submit(OVER_SITES, number=2)
    assert [effect.ce.id for effect in stage.submits] == [A, B]
    assert stage.records[first].placements == shared((A, B), 10)
    assert (stage.state(first), stage.state(second), len(stage.submits)) == (S.READY, S.WAITING, 2)
    cache = stage.scheduler.cache
    assert [cache.commitments_at(ce)[first].cpus for ce in (A, B)] == [5, 5]
    assert [lock.owner for ce in (A, B) if (lock := cache.lock_of(ce, stage.monotonic))] == [first, first]
    together(stage, first, 2)
    stage.run()
    assert stage.submits[-1].record.id == second
    assert cache.commitments_at(A).keys() == {second}


def test_jobs_may_wait_in_the_batch_system_of_a_site_up_to_the_longest_queue() -> None:
    rules = SchedulerConfig(batch_capacity="total", max_site_queue=3)
    batch = resource(A, cpus=2)
    batch.attributes["GlueCEInfoLRMSType"] = "pbs"
    stage = Stage([batch], rules)
    jobs = stage.submit(number=10)
    assert len(stage.submits) == 2 + 3, "two start at once, three wait"
    stage.accepted(jobs[0])
    stage.started(jobs[0])
    stage.run()
    assert len(stage.submits) == 5, "the processors are not free for another two"
    stage.ended(jobs[0])
    stage.run()
    assert len(stage.submits) == 6


def test_queues_of_sites_grow_as_fast_as_they_are_worked_off() -> None:
    sites = [resource(A, cpus=4), resource(B, cpus=8)]
    for site in sites:
        site.attributes["GlueCEInfoLRMSType"] = "slurm"
    stage = Stage(sites, SchedulerConfig(batch_capacity="total", max_site_queue=100))
    for text in (PLAIN, PLAIN + "Rank = 1;"):
        before = len(stage.submits)
        stage.submit(text, number=60)
        stage.run()
        places = [effect.ce.id for effect in stage.submits[before:]]
        assert (places.count(A), places.count(B)) == (20, 40)


def test_without_a_cache_nothing_is_matched_before_the_sources_were_asked() -> None:
    stage = Stage([resource(A, cpus=2)], SchedulerConfig(cache=False))
    (job,) = stage.submit()
    assert stage.state(job) is S.WAITING
    assert stage.asks == 1
    stage.refresh()
    stage.run()
    assert stage.state(job) is S.READY
    (next_,) = stage.submit()
    assert (stage.state(next_), stage.asks) == (S.WAITING, 2)


def test_what_the_batch_system_foretold_of_equal_needs_is_in_the_story_while_it_is_fresh() -> None:
    foretold = check(PLAIN + "WallTime = 600;").description
    assert foretold is not None
    stage = Stage([resource(A, 8)])
    stage.tell(StartForetold(foretold.batch_needs, A, 75.0))
    asked = (('WallTime = 600; Arguments = "x";', 0.0), ("WallTime = 60;", 0.0), ("WallTime = 600;", 301.0))
    waits = []
    for text, later in asked:
        stage.wait(later)
        [job] = stage.submit(PLAIN + text)
        told = next(one for one in stage.stories[job] if one.type is EventType.MATCHED)
        waits.append(told.details.get(EXPECTED_WAIT))
    assert waits == [75.0, None, None]


def test_a_job_is_told_the_wait_that_its_resource_publishes_if_no_forecast_is_there() -> None:
    published = "GlueCEStateEstimatedResponseTime"
    stage = Stage([replace(resource(A, 8), attributes={published: 40.0})])
    [job] = stage.submit()
    told = next(one for one in stage.stories[job] if one.type is EventType.MATCHED)
    assert told.details[EXPECTED_WAIT] == 40.0


def test_what_could_ever_run_a_job_is_known_though_it_is_full_now() -> None:
    fast, slow = ({"GlueHostBenchmarkSI00": speed} for speed in (600, 400))
    full = [Resource(name, "a", 4, 0, 0, 0, 0.0, speed) for name, speed in ((A, fast), (B, slow))]
    stage = Stage([*full, Resource("c:1/x", "c", 1, 1, 0, 0, 0.0, fast)])
    (job,) = stage.submit(f"Requirements = other.GlueHostBenchmarkSI00 > 500; {PLAIN}")
    live = stage.scheduler.job(job)
    assert live is not None
    assert sorted(stage.scheduler.able(live)) == [A, "c:1/x"]
