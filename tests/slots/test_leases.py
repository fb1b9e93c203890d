"""What is lost is in doubt until its lease ended; what speaks late changes nothing (reliability case 18)."""

from __future__ import annotations

import pytest

from broker_core.scheduling.slots.effects import (
    EndPayload,
    GlideinUnavailable,
    LateGlideinMessage,
    PayloadInDoubt,
    PayloadLost,
    PayloadOver,
    PayloadReturned,
    RenewLease,
    ResumePayload,
    SetPriority,
    SlotsRefused,
    StartGlidein,
    StartPayload,
    StopGlidein,
    SuspendPayload,
)
from broker_core.scheduling.slots.messages import (
    ApplicationReleased,
    GlideinAccepted,
    GlideinAlive,
    GlideinConnected,
    GlideinGone,
    GlideinRefused,
    GlideinStarted,
    GlideinWanted,
    JobWithdrawn,
    PayloadEnded,
    PayloadRefused,
    PayloadStarted,
    SlotsWanted,
)
from broker_core.scheduling.slots.rules import OnRelease, SlotRules, SlotUse
from tests.slots.stage import CE, Stage, all_of, only, payload

INTERACTIVE, INTER_CLUSTER = SlotUse.INTERACTIVE, SlotUse.INTER_CLUSTER


def test_a_silent_glidein_is_lost_after_180_s_and_its_job_may_run_again_after_its_lease_and_30_s() -> None:
    stage = Stage()
    glidein, claim = stage.joined("j1")
    (i1,) = stage.claimed(payload("i1", INTERACTIVE))
    stage.let_pass(100.0)
    stage.alive(glidein)
    lost = stage.let_pass(180.0)
    assert only(lost, StopGlidein).reason == "it was not heard for 180 s"
    assert [one.payload.component.job for one in all_of(lost, PayloadInDoubt)] == ["j1", "i1"]
    assert [stage.state(one) for one in (glidein, claim, i1.claim)] == ["Lost", "InDoubt", "InDoubt"]
    for wanted in (GlideinWanted(payload("j1", attempt=2), CE), SlotsWanted((payload("j1", attempt=2),))):
        assert (
            only(stage.tell(wanted), SlotsRefused).reason == "the job is in a slot already, or may still be"
        )
    assert stage.let_pass(29.0) == []
    over = all_of(stage.let_pass(1.0), PayloadLost)
    assert {(one.payload.component.job, one.again) for one in over} == {("j1", True), ("i1", False)}
    assert stage.state(claim) == "Expired"
    assert stage.requested("j1", attempt=2) != glidein


def test_the_lease_of_a_lost_glidein_is_not_renewed_and_it_is_told_to_end() -> None:
    stage = Stage()
    glidein, _ = stage.joined("j1")
    assert only(stage.tell(GlideinAlive(glidein)), RenewLease).glidein == glidein
    stage.let_pass(180.0)
    for message in (GlideinAlive(glidein), GlideinConnected(glidein)):
        effects = stage.tell(message)
        assert all_of(effects, RenewLease) == []
        assert only(effects, StopGlidein).glidein == glidein
        assert only(effects, LateGlideinMessage).subject == glidein


def test_the_end_of_a_payload_in_doubt_counts_if_it_is_proved_before_its_lease_ends() -> None:
    stage = Stage()
    glidein, claim = stage.joined("j1")
    stage.tell(GlideinGone(glidein, "killed by its batch system"))
    assert only(stage.tell(PayloadEnded(claim, 0)), PayloadOver).exit_code == 0
    assert stage.let_pass(1000.0) == []
    assert only(stage.tell(PayloadEnded(claim, 1)), LateGlideinMessage).subject == claim


def test_a_payload_in_doubt_that_never_started_may_run_again_at_once() -> None:
    stage = Stage()
    glidein = stage.requested("j1")
    claim = only(stage.tell(GlideinConnected(glidein)), StartPayload).claim
    stage.tell(GlideinGone(glidein, "killed"))
    assert stage.tell(PayloadStarted(claim)) == [LateGlideinMessage(claim, "payload.started")]
    assert (
        only(stage.tell(PayloadRefused(claim, "no such directory")), PayloadReturned).reason
        == "no such directory"
    )
    assert stage.tell(PayloadRefused(claim, "again")) == [LateGlideinMessage(claim, "payload.refused")]


def test_a_killed_glidein_frees_nothing_before_the_lease_even_if_its_batch_system_says_it_is_gone() -> None:
    stage = Stage()
    glidein, claim = stage.joined("j1")
    stage.let_pass(50.0)
    assert all_of(stage.tell(GlideinGone(glidein, "NODE_FAIL")), PayloadLost) == []
    assert stage.let_pass(159.0) == []
    assert only(stage.let_pass(1.0), PayloadLost).again, "180 s + 30 s after the last answer"
    assert stage.state(claim) == "Expired"


@pytest.mark.parametrize("steps", range(3))
def test_a_glidein_that_is_killed_before_it_joins_has_nothing_in_doubt(steps: int) -> None:
    stage = Stage()
    glidein = stage.requested("j1")
    for message in (GlideinAccepted(glidein), GlideinStarted(glidein))[:steps]:
        stage.tell(message)
    effects = stage.tell(GlideinGone(glidein, "killed"))
    assert only(effects, GlideinUnavailable).reason == "killed"
    assert stage.state(glidein) == "Lost"


def test_a_glidein_has_300_s_to_join_and_its_node_must_be_fit() -> None:
    stage = Stage()
    slow, bad = stage.requested("j1"), stage.requested("j2")
    stage.tell(GlideinStarted(slow))
    assert stage.let_pass(299.0) == []
    unfit = stage.tell(GlideinConnected(bad, "n9", faults=("the disk is full", "no /tmp")))
    assert only(unfit, GlideinUnavailable).reason == "its node is not fit: the disk is full; no /tmp"
    assert only(unfit, StopGlidein).glidein == bad
    late = stage.let_pass(1.0)
    assert only(late, GlideinUnavailable).reason == "it was 300 s Starting and did not join"
    assert only(stage.tell(GlideinConnected(slow)), StopGlidein).glidein == slow
    assert [stage.state(one) for one in (slow, bad)] == ["Failed", "Failed"]


def test_an_idle_glidein_takes_batch_jobs_of_its_organization_without_its_site_and_ends_later() -> None:
    stage = Stage()
    glidein, first = stage.joined("j1")
    stage.tell(PayloadEnded(first, 0))
    for number in range(2, 6):
        stage.let_pass(100.0)
        stage.alive(glidein)
        (start,) = stage.claimed(payload(f"j{number}"))
        assert start.glidein == glidein
        stage.tell(PayloadEnded(start.claim, 0))
    stage.let_pass(150.0)
    stage.alive(glidein)
    assert stage.state(glidein) == "Idle"
    stage.let_pass(150.0)
    assert stage.state(glidein) == "Exited"
    assert len(all_of(stage.effects, StartGlidein)) == 1


def test_an_idle_glidein_that_says_it_ended_has_exited() -> None:
    stage = Stage(SlotRules(idle_exit=0.0))
    glidein, claim = stage.joined("j1")
    stage.tell(PayloadEnded(claim, 0))
    stage.tell(GlideinGone(glidein, "its time is over"))
    assert stage.state(glidein) == "Exited"


def test_a_withdrawn_job_takes_its_glidein_with_it_only_before_that_joins() -> None:
    stage = Stage()
    waiting = stage.requested("j1")
    assert only(stage.tell(JobWithdrawn("j1", "canceled")), StopGlidein) == StopGlidein(
        waiting, CE, "canceled"
    )
    glidein, claim = stage.joined("j2")
    (i1,) = stage.claimed(payload("i1", INTERACTIVE))
    assert only(stage.tell(JobWithdrawn("j2", "canceled")), EndPayload).claim == claim
    assert stage.tell(JobWithdrawn("j2", "canceled")) == []
    assert only(stage.tell(PayloadEnded(claim, None, "killed")), PayloadOver).exit_code is None
    assert stage.state(glidein) == "Busy"
    stage.tell(PayloadEnded(i1.claim, 0))
    assert stage.state(glidein) == "Idle"


@pytest.mark.parametrize("beside", [False, True])
def test_an_originator_that_never_starts_gives_its_slot_free(beside: bool) -> None:
    stage = Stage()
    glidein = stage.requested("j1")
    claim = only(stage.tell(GlideinConnected(glidein)), StartPayload).claim
    if beside:
        stage.claimed(payload("i1", INTERACTIVE))
        assert stage.state(glidein) == "Joined"
    assert only(stage.tell(PayloadRefused(claim, "no space")), PayloadReturned).reason == "no space"
    assert stage.state(glidein) == ("Busy" if beside else "Idle")
    assert stage.slots_of(glidein) == ["Free", "Claimed" if beside else "Free"]


def test_a_glidein_that_calls_again_is_told_once_more_what_may_be_lost() -> None:
    stage = Stage(SlotRules(on_release=OnRelease.SUSPEND))
    glidein, part = stage.joined("p1", INTER_CLUSTER)
    start = only(stage.tell(SlotsWanted((payload("j1"),))), StartPayload)
    assert only(stage.tell(GlideinConnected(glidein, claims=frozenset({part}))), StartPayload) == start
    stage.tell(PayloadStarted(start.claim))
    both = frozenset({part, start.claim})
    again = stage.tell(GlideinConnected(glidein, claims=both))
    assert only(again, ResumePayload).claim == start.claim
    assert only(again, SetPriority).priority == 10
    stage.tell(ApplicationReleased("p1"))
    assert only(stage.tell(GlideinConnected(glidein, claims=both)), SuspendPayload).claim == start.claim
    stage.tell(JobWithdrawn("j1", "canceled"))
    more = both | {"unknown"}
    ends = all_of(stage.tell(GlideinConnected(glidein, claims=more)), EndPayload)
    assert [one.claim for one in ends] == ["unknown", start.claim]


def test_what_a_glidein_has_forgotten_is_ended_there_and_runs_again() -> None:
    stage = Stage()
    glidein, claim = stage.joined("j1")
    assert only(stage.tell(GlideinConnected(glidein)), EndPayload).claim == claim
    back = only(stage.tell(PayloadEnded(claim, None, "nothing of it is left")), PayloadReturned)
    assert back.payload == payload("j1")


def test_repeated_and_late_messages_change_nothing() -> None:
    stage = Stage()
    glidein, claim = stage.joined("j1")
    known = len(stage.log)
    for message in (
        *(GlideinAccepted(glidein), GlideinStarted(glidein), GlideinRefused(glidein, "no")),
        *(
            PayloadStarted(claim),
            PayloadRefused(claim, "no"),
            GlideinAlive("never"),
            GlideinGone("never", ""),
        ),
        *(GlideinRefused("never", ""), GlideinAccepted("never"), GlideinStarted("never")),
        *(PayloadEnded("never"), ApplicationReleased("j1"), JobWithdrawn("never", "")),
    ):
        stage.tell(message)
    assert len(stage.log) == known
    late = [(one.subject, one.message) for one in all_of(stage.effects, LateGlideinMessage)]
    assert (glidein, "glidein.site_refused") in late
    assert (claim, "payload.refused") in late
    assert ("never", "glidein.alive") in late


def test_a_restarted_broker_goes_on_with_what_its_log_says() -> None:
    stage = Stage()
    glidein, claim = stage.joined("p1", INTER_CLUSTER)
    (batch,) = stage.claimed(payload("j1"))
    gone, doubtful = stage.joined("j2")
    stage.tell(GlideinGone(gone, "killed"))
    asked = stage.requested("j3")
    ended, over = stage.joined("j4")
    stage.tell(PayloadEnded(over, 0))
    effects = stage.kill_and_start()
    assert only(effects, StartGlidein).glidein == asked, "its site may not have it"
    assert only(effects, SetPriority).claim == batch.claim
    assert stage.slots_of(glidein) == ["Claimed", "Claimed"]
    assert {stage.state(one) for one in (glidein, ended)} == {"Shared", "Idle"}
    assert only(stage.tell(GlideinWanted(payload("j2", attempt=2), CE)), SlotsRefused)
    stage.tell(GlideinConnected(glidein, claims=frozenset({claim, batch.claim})))
    lost = stage.let_pass(210.0)
    assert {one.payload.component.job for one in all_of(lost, PayloadLost)} >= {"j2"}
    assert stage.state(doubtful) == "Expired"
    assert stage.state(asked) == "Requested"


def test_a_restarted_broker_remembers_why_a_payload_was_to_end() -> None:
    stage = Stage(SlotRules(on_release=OnRelease.CANCEL))
    _, _ = stage.joined("p1", INTER_CLUSTER)
    (batch,) = stage.claimed(payload("j1"))
    stage.tell(ApplicationReleased("p1"))
    assert stage.state(batch.claim) == "Ending"
    stage.kill_and_start()
    assert only(stage.tell(PayloadEnded(batch.claim)), PayloadReturned).payload == payload("j1")
