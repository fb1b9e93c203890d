"""Batch jobs wait in line at a machine whose jobs are over soon, and go back where one is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.scheduling.slots.effects import (
    EndPayload,
    PayloadInDoubt,
    PayloadOver,
    PayloadReturned,
    PayloadRuns,
    RecallPayload,
    SetPriority,
    StartGlidein,
    StartPayload,
    StopGlidein,
)
from broker_core.scheduling.slots.lines import most_in_line
from broker_core.scheduling.slots.messages import (
    GlideinAccepted,
    GlideinConnected,
    GlideinGone,
    GlideinStarted,
    JobWithdrawn,
    PayloadEnded,
    PayloadRefused,
    PayloadStarted,
    SlotsWanted,
)
from broker_core.scheduling.slots.rules import SlotRules, SlotUse
from tests.slots.stage import Stage, all_of, busy, only, payload, wanted

SECOND = 1.0


def line(stage: Stage, *jobs: str, seconds: float = SECOND) -> tuple[str, list[StartPayload]]:
    """A glidein whose first job was over after some seconds; then jobs are there, the first in its slot."""
    glidein, claim = busy(stage)
    for job in jobs:
        stage.tell(wanted(job))
    stage.let_pass(seconds)
    return glidein, all_of(stage.tell(PayloadEnded(claim, 0)), StartPayload)


def jobs_of(starts: list[StartPayload]) -> list[str]:
    return [one.payload.component.job for one in starts]


@pytest.mark.parametrize(
    ("pace", "most"), [(None, 0), (0.0, 16), (0.1, 16), (1.0, 5), (4.0, 1), (9.0, 1), (11.0, 0)]
)
def test_as_many_wait_as_are_over_soon(pace: float | None, most: int) -> None:
    assert most_in_line(SlotRules(), pace) == most


def test_jobs_whose_glideins_wait_move_into_the_line_and_each_begins_after_the_one_before() -> None:
    stage = Stage()
    glidein, starts = line(stage, "j2", "j3", "j4")
    assert jobs_of(starts) == ["j2", "j3", "j4"]
    assert {one.glidein for one in starts} == {glidein}
    assert [one.after for one in starts] == ["", starts[0].claim, starts[1].claim]
    assert len(all_of(stage.effects, StopGlidein)) == 3


@pytest.mark.parametrize(
    ("jobs", "first", "others", "waits"),
    [
        (20, 60.0, 60.0, 8),
        (9, 60.0, 60.0, 4),
        (20, 600.0, 60.0, 0),
        (20, 0.0, 60.0, 0),
        (20, 60.0, 600.0, 0),
        (8, 60.0, 60.0, 0),
    ],
)
def test_jobs_that_say_that_they_are_short_wait_behind_the_first_one_where_they_are_many(
    jobs: int, first: float, others: float, waits: int
) -> None:
    stage = Stage(SlotRules(most_waiting=2))
    asked = only(stage.tell(replace(wanted("j1"), seconds=first, lasts=3000.0)), StartGlidein).glidein
    for number in range(jobs):
        stage.tell(replace(wanted(f"more{number}"), seconds=others, lasts=3000.0))
    stage.tell(GlideinAccepted(asked))
    stage.tell(GlideinStarted(asked))
    starts = all_of(stage.tell(GlideinConnected(asked, "n1")), StartPayload)
    assert jobs_of(starts) == ["j1", *(f"more{number}" for number in range(1, 1 + waits))]
    assert [one.after for one in starts] == ["", *(one.claim for one in starts[:-1])]
    again = stage.let_pass(SlotRules().time_in_line + 0.1)
    assert len(all_of(again, RecallPayload)) == waits, "it was not short"


def test_the_last_jobs_are_shared_out_among_the_machines() -> None:
    stage = Stage(SlotRules(most_waiting=2))
    ones = [busy(stage, f"first{number}") for number in range(2)]
    for number in range(6):
        stage.tell(wanted(f"j{number}"))
    stage.let_pass(SECOND)
    starts = [all_of(stage.tell(PayloadEnded(claim, 0)), StartPayload) for _, claim in ones]
    assert [len(found) for found in starts] == [3, 3], "five would have room in the line of each"
    assert {one.glidein for one in starts[0]}.isdisjoint(one.glidein for one in starts[1])


def test_a_new_job_gets_into_the_shortest_line_instead_of_the_batch_system() -> None:
    stage = Stage()
    _, starts = line(stage, "j2")
    found = stage.tell(wanted("j3"))
    assert all_of(found, StartGlidein) == []
    assert only(found, StartPayload).after == starts[0].claim


def test_the_next_in_line_has_the_slot_once_the_one_before_is_over() -> None:
    stage = Stage()
    glidein, (first, second, third) = line(stage, "j2", "j3", "j4")
    # The glidein was quicker than what is heard of it.
    assert only(stage.tell(PayloadStarted(second.claim)), PayloadRuns).payload == second.payload
    assert only(stage.tell(PayloadEnded(first.claim, 0)), PayloadOver).payload == first.payload
    assert stage.slots_of(glidein) == ["Claimed", "Free"]
    stage.tell(PayloadEnded(third.claim, 0))
    stage.tell(PayloadEnded(second.claim, 0))
    assert (stage.slots_of(glidein), stage.state(glidein)) == (["Free", "Free"], "Idle")


def test_behind_a_job_that_takes_long_nobody_waits_any_more() -> None:
    stage = Stage()
    _, (_, second, third) = line(stage, "j2", "j3", "j4")
    recalled = all_of(stage.let_pass(SlotRules().patience_in_line + 1), RecallPayload)
    assert [one.claim for one in recalled] == [second.claim, third.claim]
    returned = only(stage.tell(PayloadRefused(second.claim, "as it was told")), PayloadReturned)
    assert (returned.payload, returned.blameless) == (second.payload, True)
    assert only(stage.tell(wanted("j5")), StartGlidein), "the line is closed"


@pytest.mark.parametrize("killed", [False, True])
def test_one_that_began_before_it_could_be_called_back_goes_on(killed: bool) -> None:
    stage = Stage()
    glidein, (first, second) = line(stage, "j2", "j3")
    stage.let_pass(SlotRules().patience_in_line + 1)
    assert stage.state(second.claim) == "Ending"
    if killed:
        found = [*stage.kill_and_start(), *stage.tell(_again(glidein, first, second))]
        assert [one.claim for one in all_of(found, RecallPayload)] == [second.claim]
    stage.tell(PayloadEnded(first.claim, 0))
    assert only(stage.tell(PayloadStarted(second.claim)), PayloadRuns)
    assert stage.state(second.claim) == "Running"
    if killed:
        stage.kill_and_start()
    lost = stage.tell(PayloadEnded(second.claim, None))
    assert only(lost, PayloadOver).payload == second.payload, "it was not called back"


def _again(glidein: str, *begun: StartPayload) -> GlideinConnected:
    return GlideinConnected(glidein, "n1", claims=frozenset(one.claim for one in begun))


def test_a_machine_that_is_shared_has_no_line() -> None:
    stage = Stage()
    _, (_, second) = line(stage, "j2", "j3")
    found = stage.tell(SlotsWanted((payload("i1", SlotUse.INTERACTIVE),)))
    assert only(found, RecallPayload).claim == second.claim
    assert only(stage.tell(wanted("j4")), StartGlidein)


def test_the_next_in_line_is_told_no_priority_but_one_that_it_has_not() -> None:
    stage, rules = Stage(), SlotRules()
    _, (first, second, third) = line(stage, "j2", "j3", "j4")
    assert all_of(stage.tell(PayloadEnded(first.claim, 0)), SetPriority) == []
    stage.tell(SlotsWanted((payload("i1", SlotUse.INTERACTIVE),)))
    stage.tell(PayloadStarted(third.claim))  # it began before it could be called back
    lowered = only(stage.tell(PayloadEnded(second.claim, 0)), SetPriority)
    assert (lowered.claim, lowered.priority) == (third.claim, rules.batch_priority)


def test_a_job_in_line_that_nobody_wants_leaves_the_others_in_it() -> None:
    stage = Stage()
    glidein, (first, second, third) = line(stage, "j2", "j3", "j4")
    assert only(stage.tell(JobWithdrawn("j3", "canceled")), EndPayload).claim == second.claim
    stage.tell(PayloadRefused(second.claim, "as it was told"))
    again = stage.tell(GlideinConnected(glidein, "n1", claims=frozenset({first.claim})))
    told_again = {one.claim: one.after for one in all_of(again, StartPayload)}
    assert told_again == {first.claim: "", third.claim: first.claim}
    assert all_of(stage.tell(wanted("j5")), StartGlidein) == [], "the glidein did nothing wrong"


def test_what_a_glidein_refuses_by_itself_closes_it_and_calls_the_others_back() -> None:
    stage = Stage()
    _, (first, second) = line(stage, "j2", "j3")
    found = stage.tell(PayloadRefused(first.claim, "its glidein is over"))
    assert only(found, RecallPayload).claim == second.claim
    assert only(stage.tell(wanted("j4")), StartGlidein)


def test_all_in_the_line_of_a_lost_glidein_are_in_doubt_until_its_lease_ends() -> None:
    stage = Stage()
    glidein, starts = line(stage, "j2", "j3", "j4")
    found = all_of(stage.tell(GlideinGone(glidein, "killed")), PayloadInDoubt)
    assert [one.payload for one in found] == [one.payload for one in starts]


def test_the_next_broker_knows_the_order_of_a_line() -> None:
    stage = Stage()
    glidein, (first, second, third) = line(stage, "j2", "j3", "j4")
    stage.tell(PayloadEnded(first.claim, 0))
    stage.kill_and_start()
    again = all_of(stage.tell(GlideinConnected(glidein, "n1")), StartPayload)
    assert [(one.claim, one.after) for one in again] == [(second.claim, ""), (third.claim, second.claim)]
