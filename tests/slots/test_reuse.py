"""A glidein takes the next batch job of its owner without the batch system (CB-GLI-10)."""

from __future__ import annotations

import pytest

from broker_core.scheduling.slots.effects import StartGlidein, StartPayload, StopGlidein
from broker_core.scheduling.slots.messages import (
    GlideinAccepted,
    GlideinConnected,
    GlideinWanted,
    PayloadEnded,
    PayloadRefused,
)
from broker_core.scheduling.slots.rules import SlotUse
from tests.slots.stage import CE, OTHER_CE, Stage, all_of, busy, only, payload, wanted


def test_an_idle_glidein_takes_the_next_job_and_ends_when_none_comes() -> None:
    stage = Stage()
    glidein, claim = busy(stage)
    stage.tell(PayloadEnded(claim, 0))
    assert (stage.state(glidein), stage.spare[CE]) == ("Idle", 1)
    found = stage.tell(wanted("j2"))
    assert stage.spare[CE] == 0
    assert all_of(found, StartGlidein) == []
    start = only(found, StartPayload)
    assert (start.glidein, start.payload) == (glidein, payload("j2"))
    assert start.claim != claim
    stage.tell(PayloadEnded(start.claim, 0))
    stage.let_pass(100.0)
    stage.alive(glidein)
    stage.let_pass(100.0)
    stage.alive(glidein)
    assert only(stage.let_pass(101.0), StopGlidein).glidein == glidein
    assert stage.spare[CE] == 0


def test_the_machine_of_an_idle_glidein_is_held_for_no_job_also_beside_an_interactive_one() -> None:
    stage = Stage()
    _, claim = busy(stage)
    stage.tell(PayloadEnded(claim, 0))
    stage.kill_and_start()
    assert stage.spare[CE] == 1
    stage.claimed(payload("i1", SlotUse.INTERACTIVE))
    assert stage.spare[CE] == 1


@pytest.mark.parametrize(
    "other",
    [
        *(wanted("j2", owner="bob"), wanted("j2", vo="chem"), wanted("j2", needs="two")),
        *(wanted("j2", needs=""), wanted("j2", ce=OTHER_CE)),
    ],
)
def test_who_is_another_or_asks_for_other_things_gets_a_glidein_of_his_own(other: GlideinWanted) -> None:
    stage = Stage()
    _, claim = busy(stage)
    stage.tell(PayloadEnded(claim, 0))
    assert only(stage.tell(other), StartGlidein)


def test_a_job_that_would_be_cut_off_gets_a_glidein_of_its_own() -> None:
    stage = Stage()
    glidein, claim = busy(stage)
    stage.let_pass(100.0)
    stage.alive(glidein)
    stage.let_pass(139.0)
    stage.kill_and_start()
    stage.tell(GlideinConnected(glidein, "n1", claims=frozenset({claim})))
    stage.tell(PayloadEnded(claim, 0))
    second = only(stage.tell(wanted("j2")), StartPayload)
    stage.let_pass(2.0)
    stage.tell(PayloadEnded(second.claim, 0))
    assert only(stage.tell(wanted("j3")), StartGlidein)


def test_an_idle_glidein_makes_room_for_one_that_waits_at_its_site_and_whose_job_it_may_not_take() -> None:
    stage = Stage()
    glidein, claim = busy(stage)
    stage.tell(PayloadEnded(claim, 0))
    stage.tell(wanted("j2", ce=OTHER_CE))
    assert all_of(stage.let_pass(50.0), StopGlidein) == []
    waiting = only(stage.tell(wanted("j3", ce=CE.replace("-all", "-other"))), StartGlidein).glidein
    assert only(stage.let_pass(1.0), StopGlidein).glidein == glidein
    assert (stage.state(glidein), stage.state(waiting)) == ("Exited", "Requested")


@pytest.mark.parametrize("accepted", [False, True])
@pytest.mark.parametrize("killed", [False, True])
def test_a_job_whose_glidein_waits_moves_into_one_that_is_free_and_its_own_goes(
    accepted: bool, killed: bool
) -> None:
    stage = Stage()
    glidein, claim = busy(stage)
    waiting = only(stage.tell(wanted("j2")), StartGlidein).glidein
    if accepted:
        stage.tell(GlideinAccepted(waiting))
    if killed:
        stage.kill_and_start()
    found = stage.tell(PayloadEnded(claim, 0))
    assert only(found, StopGlidein).glidein == waiting
    start = only(found, StartPayload)
    assert (start.glidein, start.payload) == (glidein, payload("j2"))
    assert (stage.state(waiting), stage.state(glidein)) == ("Exited", "Busy")
    late = stage.tell(GlideinConnected(waiting, "n2"))
    assert only(late, StopGlidein).glidein == waiting
    assert all_of(late, StartPayload) == []
    if killed:
        again = [*stage.kill_and_start(), *stage.tell(GlideinConnected(glidein, "n1"))]
        assert only(again, StartPayload).claim == start.claim


def test_a_glidein_that_refused_a_payload_gets_no_further_one() -> None:
    stage = Stage()
    _, claim = busy(stage)
    stage.tell(wanted("j2"))
    third = only(stage.tell(wanted("j3", needs="two")), StartGlidein).glidein
    moved = only(stage.tell(PayloadEnded(claim, 0)), StartPayload)
    found = stage.tell(PayloadRefused(moved.claim, "its glidein is over"))
    assert all_of(found, StartPayload) == []
    assert stage.state(third) == "Requested"
    assert only(stage.tell(wanted("j4")), StartGlidein)
