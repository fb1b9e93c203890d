"""The scenarios of section 8.4 of the requirements, with numbers."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import check
from broker_core.scheduling.slots.effects import (
    EndPayload,
    GlideinUnavailable,
    PayloadOver,
    PayloadReturned,
    ResumePayload,
    SetPriority,
    SlotOpened,
    SlotsClaimed,
    SlotsRefused,
    StartGlidein,
    StartPayload,
    StopGlidein,
    SuspendPayload,
)
from broker_core.scheduling.slots.interactive import (
    InteractiveCapacity,
    InteractiveChoice,
    InteractiveMode,
    choose,
)
from broker_core.scheduling.slots.messages import (
    ApplicationReleased,
    GlideinAccepted,
    GlideinConnected,
    GlideinRefused,
    GlideinStarted,
    GlideinWanted,
    PayloadEnded,
    PayloadStarted,
    SlotsWanted,
)
from broker_core.scheduling.slots.rules import (
    OnRelease,
    PriorityControl,
    SlotRole,
    SlotRules,
    SlotUse,
    use_of,
)
from tests.slots.stage import CE, OTHER_CE, Stage, all_of, only, payload

INTERACTIVE, INTER_CLUSTER = SlotUse.INTERACTIVE, SlotUse.INTER_CLUSTER


def test_1_a_batch_job_gets_a_glidein_with_two_slots_runs_in_slot1_and_slot2_is_offered() -> None:
    stage = Stage()
    glidein = stage.requested("j1")
    assert stage.state(glidein) == "Requested"
    stage.tell(GlideinAccepted(glidein))
    assert stage.state(glidein) == "QueuedAtSite"
    stage.tell(GlideinStarted(glidein))
    assert stage.state(glidein) == "Starting"
    effects = stage.tell(GlideinConnected(glidein, "n1"))
    start = only(effects, StartPayload)
    assert (start.role, start.payload, start.priority) == (SlotRole.SLOT1, payload("j1"), 0)
    assert only(effects, SlotOpened) == SlotOpened(CE, "bio", SlotRole.SLOT2)
    assert stage.state(glidein) == "Joined"
    assert stage.slots_of(glidein) == ["Claimed", "Free"]
    assert stage.monitor.offers(payload("i1", INTERACTIVE)) == {CE: 1}
    assert stage.monitor.offers(payload("j2")) == {}, "slot1 is the originator's"
    stage.tell(PayloadStarted(start.claim))
    assert stage.state(glidein) == "Busy"
    over = only(stage.tell(PayloadEnded(start.claim, 0)), PayloadOver)
    assert (over.payload.component.job, over.exit_code) == ("j1", 0)
    assert stage.state(glidein) == "Idle"
    for _ in range(2):
        assert stage.let_pass(149.0) == []
        stage.alive(glidein)
    assert only(stage.let_pass(3.0), StopGlidein).reason == "no job came for 300 s"
    assert stage.state(glidein) == "Exited"


@pytest.mark.parametrize("said", [GlideinRefused, None])
def test_2_without_a_machine_and_a_queue_the_job_stays_with_the_broker(
    said: type[GlideinRefused] | None,
) -> None:
    stage = Stage()
    glidein = stage.requested("j1")
    effects = stage.tell(said(glidein, "the queue is full")) if said else stage.let_pass(3600.0)
    unavailable = only(effects, GlideinUnavailable)
    assert unavailable.payload.component.job == "j1"
    assert unavailable.reason in ("the queue is full", "it was 3600 s Requested and did not join")
    assert stage.state(glidein) == "Failed"
    assert stage.requested("j1", ce=OTHER_CE) != glidein, "the next computing element gets another"


@pytest.mark.parametrize(
    ("mode", "choice"),
    [
        (InteractiveMode.EXCLUSIVE, InteractiveChoice("b", 2, 0)),
        (InteractiveMode.FREE_FIRST, InteractiveChoice("b", 2, 0)),
        (InteractiveMode.SLOTS_FIRST, InteractiveChoice("a", 0, 2)),
    ],
)
def test_3_an_interactive_job_takes_bare_processors_before_slots_unless_set_otherwise(
    mode: InteractiveMode, choice: InteractiveChoice
) -> None:
    sites = [InteractiveCapacity("a", 1, 3), InteractiveCapacity("b", 2, 0)]
    assert choose(2, sites, mode) == choice
    stage = Stage()
    refused = only(stage.tell(GlideinWanted(payload("i1", INTERACTIVE), CE)), SlotsRefused)
    assert refused.reason == "an interactive job starts no glidein"


def test_4_an_interactive_job_starts_in_slot2_and_the_batch_job_is_lowered_until_it_ends() -> None:
    stage = Stage()
    glidein, batch = stage.joined("j1")
    effects = stage.tell(SlotsWanted((payload("i1", INTERACTIVE),)))
    start = only(effects, StartPayload)
    assert only(effects, SlotsClaimed).claims == (start.claim,)
    assert (start.role, start.priority) == (SlotRole.SLOT2, 0)
    assert only(effects, SetPriority) == SetPriority(glidein, batch, 10)
    assert stage.state(glidein) == "Shared"
    stage.tell(PayloadStarted(start.claim))
    ended = stage.tell(PayloadEnded(start.claim, 0))
    assert only(ended, SetPriority) == SetPriority(glidein, batch, 0)
    assert stage.state(glidein) == "Busy"
    assert stage.slots_of(glidein) == ["Claimed", "Free"]


def test_4_other_organizations_are_not_offered_the_slot() -> None:
    stage = Stage()
    stage.joined("j1", vo="bio")
    for vo, owner, free in (("hep", "ann", {}), ("bio", "bob", {CE: 1}), ("", "bob", {})):
        assert stage.monitor.offers(payload("i1", INTERACTIVE, vo=vo, owner=owner)) == free


def test_4_without_organizations_a_slot_is_for_jobs_of_the_same_owner() -> None:
    stage = Stage()
    stage.joined("j1", vo="", owner="ann")
    for owner, free in (("ann", {CE: 1}), ("bob", {})):
        assert stage.monitor.offers(payload("i1", INTERACTIVE, vo="", owner=owner)) == free


@pytest.mark.parametrize(
    ("rules", "control"),
    [
        (SlotRules(), PriorityControl.DOWN_ONLY),
        (SlotRules(restore_full_priority=False), PriorityControl.BOTH_WAYS),
    ],
)
def test_4_where_priority_cannot_come_back_slot1_has_the_lower_one_from_the_start(
    rules: SlotRules, control: PriorityControl
) -> None:
    stage = Stage(rules)
    stage.joined("j1", priorities=control)
    (i1,) = stage.claimed(payload("i1", INTERACTIVE))
    stage.tell(PayloadEnded(i1.claim, 0))
    assert [one.priority for one in all_of(stage.effects, StartPayload)] == [10, 0]
    assert all_of(stage.effects, SetPriority) == []


def test_5_an_interactive_job_is_refused_at_once_where_nothing_is_free() -> None:
    stage = Stage()
    assert choose(1, [InteractiveCapacity(CE, 0, 0)]) is None
    wanted = SlotsWanted((payload("i1", INTERACTIVE),))
    assert only(stage.tell(wanted), SlotsRefused).reason == "no slot2 of its organization is free now"
    stage.requested("j1")
    assert stage.monitor.offers(payload("i1", INTERACTIVE)) == {}, "it did not join yet"


def test_6_a_second_interactive_job_never_comes_to_a_machine_whose_slot2_is_taken() -> None:
    stage = Stage()
    glidein, _ = stage.joined("j1")
    (first,) = stage.claimed(payload("i1", INTERACTIVE))
    effects = stage.tell(SlotsWanted((payload("i2", INTERACTIVE),)))
    assert all_of(effects, StartPayload) == []
    assert only(effects, SlotsRefused).payloads[0].component.job == "i2"
    other, _ = stage.joined("j2", ce=OTHER_CE)
    (second,) = stage.claimed(payload("i2", INTERACTIVE))
    assert (first.glidein, second.glidein) == (glidein, other)


def test_6_slots_for_a_parallel_interactive_job_are_given_all_or_none() -> None:
    stage = Stage()
    machines = [stage.joined(f"j{number}")[0] for number in range(3)]
    parts = [payload("i1", INTERACTIVE, index=number) for number in range(4)]
    assert only(stage.tell(SlotsWanted(tuple(parts))), SlotsRefused).payloads == tuple(parts)
    assert stage.monitor.offers(payload("i2", INTERACTIVE)) == {CE: 3}
    starts = stage.claimed(*parts[:3])
    assert [one.glidein for one in starts] == machines
    sites = [InteractiveCapacity("a", 1, 3), InteractiveCapacity("b", 1, 2)]
    assert choose(4, sites) == InteractiveChoice("a", 1, 3), "machines with and without agents"
    assert choose(4, sites, InteractiveMode.SLOTS_FIRST) == InteractiveChoice("a", 1, 3)
    assert choose(4, sites, InteractiveMode.EXCLUSIVE) is None


def two_sites(stage: Stage) -> tuple[str, str, str]:
    """A job over two sites gathers: its first component is there, and a batch job runs beside it."""
    first, claim = stage.joined("p1", INTER_CLUSTER)
    assert stage.slots_of(first) == ["Free", "Claimed"]
    assert stage.state(claim) == "Gathering"
    (batch,) = stage.claimed(payload("j1"))
    assert (batch.glidein, batch.role, batch.priority) == (first, SlotRole.SLOT1, 10)
    stage.joined("p1", INTER_CLUSTER, OTHER_CE, index=1)
    return first, claim, batch.claim


@pytest.mark.parametrize("policy", OnRelease)
def test_7_a_batch_job_fills_the_wait_of_a_job_over_two_sites_and_makes_room_by_policy(
    policy: OnRelease,
) -> None:
    stage = Stage(SlotRules(on_release=policy))
    first, claim, batch = two_sites(stage)
    released = stage.tell(ApplicationReleased("p1"))
    assert stage.state(claim) == "Running"
    done = [type(one) for one in released]
    assert (
        done
        == {OnRelease.LOW_PRIORITY: [], OnRelease.SUSPEND: [SuspendPayload], OnRelease.CANCEL: [EndPayload]}[
            policy
        ]
    )
    fits = {OnRelease.LOW_PRIORITY: 1, OnRelease.SUSPEND: 0, OnRelease.CANCEL: 0}[policy]
    if policy is OnRelease.CANCEL:
        back = only(stage.tell(PayloadEnded(batch, None, "ended")), PayloadReturned)
        assert back.payload.component.job == "j1"
    assert sum(stage.monitor.offers(payload("j2")).values()) == fits, "of the second site"
    over = stage.tell(PayloadEnded(claim, 0))
    if policy is OnRelease.SUSPEND:
        assert only(over, ResumePayload) == ResumePayload(first, batch)
        assert stage.state(batch) == "Running"
    if policy is not OnRelease.CANCEL:
        assert only(over, SetPriority) == SetPriority(first, batch, 0)


def test_7_one_that_ended_by_itself_as_it_was_to_make_room_is_done_and_does_not_run_again() -> None:
    stage = Stage(SlotRules(on_release=OnRelease.CANCEL))
    _, _, batch = two_sites(stage)
    stage.tell(ApplicationReleased("p1"))
    assert only(stage.tell(PayloadEnded(batch, 0)), PayloadOver).exit_code == 0


def test_7_the_batch_job_that_caused_the_glidein_is_never_ended_or_stopped_for_another() -> None:
    stage = Stage(SlotRules(on_release=OnRelease.CANCEL))
    _, batch = stage.joined("j1")
    (part,) = stage.claimed(payload("p1", INTER_CLUSTER))
    assert stage.tell(ApplicationReleased("p1")) == []
    assert (stage.state(part.claim), stage.state(batch)) == ("Running", "Running")


def test_7_a_batch_job_that_starts_late_is_stopped_as_soon_as_it_runs() -> None:
    stage = Stage(SlotRules(on_release=OnRelease.SUSPEND))
    _, claim = stage.joined("p1", INTER_CLUSTER)
    start = only(stage.tell(SlotsWanted((payload("j1"),))), StartPayload)
    assert stage.tell(ApplicationReleased("p1")) == []
    assert only(stage.tell(PayloadStarted(start.claim)), SuspendPayload).claim == start.claim
    assert stage.state(claim) == "Running"


def test_7_a_component_that_is_heard_to_run_after_all_are_there_runs_at_once() -> None:
    stage = Stage(SlotRules(on_release=OnRelease.SUSPEND))
    stage.joined("p1", INTER_CLUSTER)
    (batch,) = stage.claimed(payload("j1"))
    late = stage.requested("p1", INTER_CLUSTER, OTHER_CE, index=1)
    stage.tell(GlideinAccepted(late))
    stage.tell(GlideinStarted(late))
    start = only(stage.tell(GlideinConnected(late, "n2")), StartPayload)
    assert only(stage.tell(ApplicationReleased("p1")), SuspendPayload).claim == batch.claim
    assert stage.tell(PayloadStarted(start.claim)) != []
    assert stage.state(start.claim) == "Running"


def test_7_a_component_gets_a_glidein_of_its_own_also_where_one_is_free() -> None:
    stage = Stage()
    first, _ = stage.joined("j1")
    assert stage.requested("p1", INTER_CLUSTER) != first


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ('Executable = "a";', SlotUse.BATCH),
        ('Executable = "a"; JobType = "Interactive";', SlotUse.INTERACTIVE),
        ('Executable = "a"; JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 4;', None),
        (
            'Executable = "a"; JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 4;',
            SlotUse.INTER_CLUSTER,
        ),
    ],
)
def test_the_kind_of_a_job_decides_whether_it_starts_a_glidein(text: str, use: SlotUse | None) -> None:
    description = check(text).description
    assert description is not None
    assert use_of(description.structure, description.needs) is use


def test_a_job_activates_one_glidein_however_often_it_asks() -> None:
    stage = Stage()
    stage.requested("j1")
    assert all_of(stage.tell(GlideinWanted(payload("j1", attempt=2), CE)), StartGlidein) == []
