"""What becomes of a batch job beside an interactive one, by setting, and whose jobs a glidein takes
(CB-GLI-08, CB-GLI-11 to 13)."""

from __future__ import annotations

import pytest

from broker_core.scheduling.slots.effects import (
    EndPayload,
    PayloadReturned,
    ResumePayload,
    SetPriority,
    StartPayload,
    SuspendPayload,
)
from broker_core.scheduling.slots.messages import JobWithdrawn, PayloadEnded, PayloadStarted, SlotsWanted
from broker_core.scheduling.slots.rules import OnRelease, SlotRules, SlotUse
from tests.slots.stage import CE, Stage, all_of, only, payload

TALK = payload("i1", SlotUse.INTERACTIVE)


def test_by_default_the_batch_job_is_lowered_from_the_claim_on_and_restored_after() -> None:
    stage = Stage()
    glidein, batch = stage.joined("b1")
    effects = stage.tell(SlotsWanted((TALK,)))
    start = only(effects, StartPayload)
    assert only(effects, SetPriority) == SetPriority(glidein, batch, 10)
    assert stage.tell(PayloadStarted(start.claim)) != []
    assert stage.state(batch) == "Running"
    assert only(stage.tell(PayloadEnded(start.claim, 0)), SetPriority) == SetPriority(glidein, batch, 0)


def test_both_nice_values_are_settings() -> None:
    stage = Stage(SlotRules(batch_priority=19, interactive_priority=5, restore_full_priority=False))
    _, batch = stage.joined("b1")
    (started,) = [one for one in stage.effects if isinstance(one, StartPayload)]
    (talk,) = stage.claimed(TALK)
    assert (started.claim, started.priority, talk.priority) == (batch, 19, 5)


def test_suspended_it_stands_still_until_the_interactive_job_has_ended_over_a_restart_too() -> None:
    stage = Stage(SlotRules(on_interactive=OnRelease.SUSPEND))
    glidein, batch = stage.joined("b1")
    start = only(stage.tell(SlotsWanted((TALK,))), StartPayload)
    assert stage.state(batch) == "Running", "not before the other runs"
    assert only(stage.tell(PayloadStarted(start.claim)), SuspendPayload) == SuspendPayload(glidein, batch)
    assert stage.state(batch) == "Suspended"
    stage.kill_and_start()
    assert stage.state(batch) == "Suspended"
    assert all_of(stage.tell(JobWithdrawn("i1", "canceled")), ResumePayload) == [], "it may still run"
    assert only(stage.tell(PayloadEnded(start.claim)), ResumePayload) == ResumePayload(glidein, batch)
    assert stage.state(batch) == "Running"


def test_canceled_it_runs_again_and_nothing_else_comes_beside_the_interactive_job() -> None:
    stage = Stage(SlotRules(on_interactive=OnRelease.CANCEL))
    _, batch = stage.joined("b1")
    start = only(stage.tell(SlotsWanted((TALK,))), StartPayload)
    end = only(stage.tell(PayloadStarted(start.claim)), EndPayload)
    assert (end.claim, end.reason) == (batch, "it made room for the job in the other slot of its machine")
    back = only(stage.tell(PayloadEnded(batch)), PayloadReturned)
    assert (back.payload.component.job, back.blameless, back.reason) == ("b1", True, end.reason)
    assert stage.monitor.offers(payload("b2")) == {}
    stage.tell(PayloadEnded(start.claim, 0))
    assert stage.monitor.offers(payload("b2")) == {CE: 1}


@pytest.mark.parametrize(
    ("vo", "owner", "admitted"),
    [
        ("bio", "ann", True), ("bio", "bob", True), ("chem", "bob", False), ("chem", "ann", False),
        ("", "ann", True), ("", "bob", False),
    ],
)  # fmt: skip
def test_a_glidein_takes_jobs_of_the_organization_of_its_originator_and_of_its_owner(
    vo: str, owner: str, admitted: bool
) -> None:
    stage = Stage()
    stage.joined("b1", vo="bio", owner="ann")
    wanted = payload("i1", SlotUse.INTERACTIVE, vo, owner)
    assert stage.monitor.offers(wanted) == ({CE: 1} if admitted else {})


def test_without_an_organization_a_glidein_is_its_owners_alone() -> None:
    stage = Stage()
    stage.joined("b1", vo="", owner="ann")
    assert stage.monitor.offers(payload("i1", SlotUse.INTERACTIVE, "", "ann")) == {CE: 1}
    assert stage.monitor.offers(payload("i1", SlotUse.INTERACTIVE, "bio", "ann")) == {CE: 1}
    assert stage.monitor.offers(payload("i1", SlotUse.INTERACTIVE, "bio", "bob")) == {}
