"""Of many batch jobs at once as many ask for glideins as are useful; the others follow in those that run."""

from __future__ import annotations

import pytest

from broker_core.scheduling.slots.effects import GlideinUnavailable, StartGlidein, StartPayload, StopGlidein
from broker_core.scheduling.slots.messages import (
    GlideinAccepted,
    GlideinConnected,
    GlideinGone,
    GlideinRefused,
    GlideinStarted,
    JobWithdrawn,
    PayloadEnded,
    PayloadStarted,
)
from broker_core.scheduling.slots.rules import SlotRules
from tests.slots.stage import CE, Stage, all_of, only, payload, wanted

_MOST = 2
_LONG = CE.replace("-all", "-long")


def flooded(count: int) -> tuple[Stage, list[str]]:
    """So many jobs at once, and the glideins that were asked for."""
    stage = Stage(SlotRules(most_waiting=_MOST))
    for number in range(count):
        stage.tell(wanted(f"j{number}"))
    return stage, [one.glidein for one in all_of(stage.effects, StartGlidein)]


def join(stage: Stage, glidein: str) -> StartPayload:
    """A glidein starts and joins, and its payload runs."""
    stage.tell(GlideinAccepted(glidein))
    stage.tell(GlideinStarted(glidein))
    start = only(stage.tell(GlideinConnected(glidein, "n1")), StartPayload)
    stage.tell(PayloadStarted(start.claim))
    return start


def test_few_glideins_are_asked_for_and_one_more_for_each_that_joined() -> None:
    stage, asked = flooded(7)
    assert len(asked) == _MOST
    for number in range(7):
        component = payload(f"j{number}").component
        assert stage.monitor.has(component)
        assert stage.monitor.has_any(component)
    join(stage, asked[0])
    assert len(all_of(stage.effects, StartGlidein)) == 3
    join(stage, asked[1])
    assert len(all_of(stage.effects, StartGlidein)) == 4
    for one in all_of(stage.effects, StartGlidein)[2:]:
        join(stage, one.glidein)
    # Four have joined: more than two may wait now.
    assert len(all_of(stage.effects, StartGlidein)) == 7


def test_who_waits_for_that_gets_the_slot_that_is_free_and_no_glidein_was_asked_for_in_vain() -> None:
    stage, asked = flooded(5)
    first = join(stage, asked[0])
    before = len(all_of(stage.effects, StartGlidein))
    found = stage.tell(PayloadEnded(first.claim, 0))
    starts = all_of(found, StartPayload)
    assert [(one.glidein, one.payload) for one in starts][:2] == [
        (asked[0], payload("j3")),
        (asked[0], payload("j4")),
    ]
    assert len(all_of(stage.effects, StartGlidein)) == before


@pytest.mark.parametrize("end", [GlideinRefused, GlideinGone])
def test_where_one_comes_to_nothing_the_next_is_asked_for(end: type[GlideinRefused | GlideinGone]) -> None:
    stage, asked = flooded(3)
    found = stage.tell(end(asked[0], "the site has no room"))
    again = only(found, StartGlidein)
    assert stage.state(again.glidein) == "Requested"
    assert stage.monitor.glidein(again.glidein)[0].payload == payload("j2")  # type: ignore[index]


def test_a_job_that_nobody_wants_any_more_asks_for_nothing() -> None:
    stage, asked = flooded(5)
    found = stage.tell(JobWithdrawn("j2", "canceled"))
    assert only(found, GlideinUnavailable) == GlideinUnavailable(payload("j2"), "canceled")
    assert not stage.monitor.has_any(payload("j2").component)
    found = stage.tell(JobWithdrawn("j0", "canceled"))
    assert only(found, GlideinUnavailable) == GlideinUnavailable(payload("j0"), "canceled")
    again = only(found, StartGlidein)
    assert stage.monitor.glidein(again.glidein)[0].payload == payload("j3")  # type: ignore[index]
    assert only(found, StopGlidein).glidein == asked[0]
    # Of one that its site has, the site says that it has ended.
    stage.tell(GlideinAccepted(asked[1]))
    found = stage.tell(JobWithdrawn("j1", "canceled"))
    assert all_of(found, GlideinUnavailable) == []
    assert only(found, StopGlidein).glidein == asked[1]


def test_jobs_of_others_and_with_other_needs_have_places_of_their_own() -> None:
    stage, asked = flooded(3)
    assert len(asked) == _MOST
    assert only(stage.tell(wanted("k0", owner="bob")), StartGlidein)
    assert only(stage.tell(wanted("k1", needs="two")), StartGlidein)
    assert only(stage.tell(wanted("k2", needs="")), StartGlidein)
    assert only(stage.tell(wanted("k3", ce=_LONG)), StartGlidein)


def test_after_a_restart_the_scheduler_says_again_who_waits() -> None:
    stage, asked = flooded(3)
    stage.kill_and_start()
    assert not stage.monitor.has_any(payload("j2").component)
    assert all_of(stage.tell(wanted("j2")), StartGlidein) == []
    start = join(stage, asked[0])
    assert start.payload == payload("j0")
    assert stage.monitor.has(payload("j2").component)


@pytest.mark.parametrize("killed", [False, True])
def test_a_job_moves_into_a_glidein_of_another_queue_that_could_run_it(killed: bool) -> None:
    stage = Stage()
    here = only(stage.tell(wanted("j0", others=(_LONG,))), StartGlidein).glidein
    there = only(stage.tell(wanted("j1", ce=_LONG, others=(CE,))), StartGlidein).glidein
    bound = only(stage.tell(wanted("j2", ce=_LONG)), StartGlidein).glidein
    first = join(stage, here)
    if killed:
        stage.kill_and_start()
        stage.tell(GlideinConnected(here, "n1", claims=frozenset({first.claim})))
    found = stage.tell(PayloadEnded(first.claim, 0))
    moved = all_of(found, StartPayload)
    assert [(one.glidein, one.payload) for one in moved] == [(here, payload("j1"))]
    assert only(found, StopGlidein).glidein == there
    assert stage.state(bound) == "Requested"


def test_where_no_glidein_starts_those_that_wait_for_one_are_given_up_with_the_others() -> None:
    stage, _ = flooded(4)
    stage.let_pass(5.0)
    stage.tell(wanted("j4"))
    found = stage.let_pass(stage.rules.queue_timeout - 4.0)
    gone = {one.payload.component.job: one.reason for one in all_of(found, GlideinUnavailable)}
    assert sorted(gone) == ["j0", "j1", "j2", "j3"]
    assert gone["j3"] == "no glidein could be asked for within 3600 s: others waited at the site"
    assert [stage.state(one.glidein) for one in all_of(found, StartGlidein)] == ["Requested"]
