"""The two-step commit of jobs with several components: the table of the source, and random schedules."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused
from broker_core.jobs.placement import Component, Placement, computing_element
from broker_core.reactor.entities import RecordEvent
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.scheduling.coallocation.coallocations import Coallocations
from broker_core.scheduling.coallocation.messages import (
    CancelComponent,
    CoallocationCanceled,
    CoallocationEnded,
    CoallocationStarted,
    ComponentGathered,
    ConfirmComponent,
    LauncherLost,
    OfferComponent,
    Reaction,
    ReleaseBarrier,
)
from tests.scheduling.coallocation.world import TIMEOUT, World, ce

SITES = ("a", "b", "c")
ONE, TWO = Component("j", 1, 0), Component("j", 1, 1)


class Pair:
    """One job over two sites."""

    def __init__(self) -> None:
        self.reactor = Coallocations(itertools.count(1).__next__, TIMEOUT)
        self.time = 0.0
        placements = tuple(Placement(computing_element(ce(name)), 4) for name in "ab")
        self.first = self.tell(CoallocationStarted("j", 1, "u", placements))

    def tell(self, *messages: Any) -> list[Any]:
        """What the last of these leads to, without records and wakes."""
        for message in messages:
            effects = self.reactor.handle(message, Now(self.time, self.time))
            assert self.reactor.validate() == []
        return [one for one in effects if not isinstance(one, RecordEvent | Wake)]

    def held(self, attempt: int = 1) -> list[Any]:
        """Both sites have theirs."""
        return self.tell(*(AttemptAccepted(Component("j", attempt, index)) for index in (0, 1)))

    def running(self) -> list[Any]:
        """Both wait in MPI_Init."""
        self.held()
        return self.tell(ComponentGathered(ONE), ComponentGathered(TWO))


def ended(component: Component, **more: Any) -> AttemptEnded:
    return AttemptEnded(component, 1.0, **more)


def kinds(effects: list[Any]) -> list[type]:
    return [type(one) for one in effects]


def the_end(effects: list[Any]) -> CoallocationEnded:
    (found,) = [one for one in effects if isinstance(one, CoallocationEnded)]
    return found


def test_nothing_starts_before_all_sites_have_their_component() -> None:
    pair = Pair()
    assert kinds(pair.first) == [OfferComponent, OfferComponent]
    assert pair.tell(AttemptAccepted(ONE)) == []
    assert kinds(pair.tell(AttemptAccepted(TWO))) == [ConfirmComponent, ConfirmComponent]


def test_the_barrier_is_released_once_when_the_last_component_reaches_it() -> None:
    pair = Pair()
    pair.held()
    assert pair.tell(ComponentGathered(TWO)) == []
    assert pair.reactor.live["j"].gathered == 1
    assert pair.tell(ComponentGathered(ONE)) == [ReleaseBarrier("j", 1)]
    assert pair.tell(ComponentGathered(ONE)) == []


def test_it_is_done_when_the_last_component_has_ended_well() -> None:
    pair = Pair()
    pair.running()
    assert pair.tell(ended(ONE, exit_code=0)) == []
    assert the_end(pair.tell(ended(TWO, exit_code=0))).reaction is Reaction.FINISH
    assert pair.reactor.live == {}


@pytest.mark.parametrize(
    ("down", "reaction"), [(True, Reaction.REMATCH_DOWN), (False, Reaction.REMATCH_RESTING)]
)
def test_a_site_that_refuses_ends_the_others_before_the_job_is_matched_again(
    down: bool, reaction: Reaction
) -> None:
    pair = Pair()
    pair.tell(AttemptAccepted(ONE))
    assert kinds(pair.tell(AttemptRefused(TWO, "no", down=down))) == [CancelComponent]
    over = the_end(pair.tell(ended(ONE, failure="killed")))
    assert (over.reaction, over.resources) == (reaction, (ce("b"),))


def test_an_end_before_the_release_is_tried_once_more_there_and_then_elsewhere() -> None:
    pair = Pair()
    pair.held()
    assert kinds(pair.tell(ended(ONE, exit_code=1))) == [CancelComponent]
    again = pair.tell(ended(TWO, failure="killed"))
    assert [one.component for one in again] == [Component("j", 2, 0), Component("j", 2, 1)]
    pair.held(2)
    pair.tell(ended(Component("j", 2, 1), exit_code=1))
    over = the_end(pair.tell(ended(Component("j", 2, 0), failure="killed")))
    assert (over.reaction, over.attempt) == (Reaction.REMATCH_WITHOUT, 2)
    assert over.resources == (ce("a"), ce("b"))


def test_the_gather_time_out_cancels_all_and_matches_again() -> None:
    pair = Pair()
    pair.held()
    pair.tell(ComponentGathered(ONE))
    pair.time = TIMEOUT - 1
    assert pair.tell(TimerFired()) == []
    pair.time = TIMEOUT
    assert kinds(pair.tell(TimerFired())) == [CancelComponent, CancelComponent]
    over = the_end(pair.tell(ended(ONE, failure="killed"), ended(TWO, failure="killed")))
    assert (over.reaction, over.reason) == (
        Reaction.REMATCH,
        "1 of 2 components reached MPI_Init within 100 s.",
    )


def test_an_abnormal_end_while_running_aborts_the_job_and_ends_the_rest() -> None:
    pair = Pair()
    pair.running()
    assert kinds(pair.tell(ended(TWO, signal=9))) == [CancelComponent]
    over = the_end(pair.tell(ended(ONE, failure="killed")))
    assert (over.reaction, over.reason) == (Reaction.ABORT, f"{ce('b')}: it ended with signal 9")


def test_a_new_launcher_adopts_what_runs_and_begins_anew_what_was_not_released() -> None:
    pair = Pair()
    pair.running()
    assert pair.tell(LauncherLost("j", 1)) == []
    assert the_end(pair.tell(ended(ONE, exit_code=0), ended(TWO, exit_code=0))).reaction is Reaction.FINISH
    other = Pair()
    other.held()
    assert kinds(other.tell(LauncherLost("j", 1))) == [CancelComponent, CancelComponent]
    over = the_end(other.tell(ended(ONE, failure="killed"), ended(TWO, failure="killed")))
    assert over.reaction is Reaction.REMATCH


def test_a_cancel_overrides_what_was_to_follow() -> None:
    pair = Pair()
    pair.held()
    pair.tell(ended(ONE, exit_code=1), CoallocationCanceled("j"))
    assert the_end(pair.tell(ended(TWO, failure="killed"))).reaction is Reaction.CANCEL


def test_what_an_older_attempt_says_changes_nothing() -> None:
    pair = Pair()
    pair.held()
    pair.tell(ended(ONE, exit_code=1), ended(TWO, failure="killed"))
    assert pair.tell(ended(ONE, exit_code=1), ComponentGathered(ONE), LauncherLost("j", 1)) == []
    assert kinds(pair.held(2)) == [ConfirmComponent, ConfirmComponent]


@settings(max_examples=120)
@given(data=some.data())
def test_whatever_happens_in_whatever_order_all_end_and_leave_nothing(data: some.DataObject) -> None:
    names = [f"j{number}" for number in range(data.draw(some.integers(1, 4)))]
    sets = some.lists(some.sampled_from(SITES), min_size=1, max_size=3, unique=True)
    random = data.draw(some.randoms(use_true_random=False))
    world = World({name: tuple(data.draw(sets)) for name in names}, random.randrange)
    world.run()
    assert world.waiting == []
    assert world.reactor.live == {}
    assert set(world.ends) == set(names)
    assert world.there == set()
    assert [name for name in names if world.locks.of_job(name)] == []
    finished = {job for job, one in world.ends.items() if one.reaction is Reaction.FINISH}
    assert finished <= {job for job, _ in world.released}
    assert len(world.released) == len(set(world.released))
