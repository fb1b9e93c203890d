"""When a remote site is believed that an attempt is over; pure, without a site."""

from __future__ import annotations

import pytest

from broker_core.jobs.placement import Component
from broker_core.sites.adapter import AttemptStatus, PollResult, Sighting
from broker_core.sites.remote.attempt_life import Arrived
from broker_core.sites.remote.completion_detection import is_over, note_sighting, notices
from broker_core.sites.remote.remote_attempt import Presence, RemoteAttempt, Requested, RequestSent
from broker_core.sites.remote.settings import RemoteSettings

SETTINGS = RemoteSettings(patience=90.0, short_patience=15.0)
STARTED = b"pid 7\nstarter 6\nuptime 5.0\ntime 1000\nnode n1\n.\n"


def tracked(since: float = 0.0, **more: object) -> RemoteAttempt:
    """An attempt that has been at the site since a moment."""
    return RemoteAttempt(Component("j", 1), life=Arrived(since), **more)  # type: ignore[arg-type]


def looks(one: RemoteAttempt, polled: PollResult, moments: list[float]) -> list[bool]:
    """The verdict of each look."""
    return [is_over(one, polled, moment, moment, SETTINGS) for moment in moments]


def test_one_look_without_it_is_no_end() -> None:
    held = tracked(seen=AttemptStatus.HELD)
    assert looks(held, PollResult({}), [1.0, 6.0, 11.0, 16.0]) == [False, False, False, True]


@pytest.mark.parametrize("seen", [AttemptStatus.QUEUED, AttemptStatus.RUNNING])
def test_what_may_have_run_between_two_looks_is_given_time_to_show_its_marks(seen: AttemptStatus) -> None:
    one = tracked()
    note_sighting(one, Sighting(seen), 0.5)
    assert looks(one, PollResult({}), [1.0, 31.0, 61.0, 91.0]) == [False, False, False, True]


def test_what_was_released_may_have_run_though_it_was_only_seen_to_be_held() -> None:
    one = tracked(seen=AttemptStatus.HELD, release=RequestSent(0.7))
    assert looks(one, PollResult({}), [1.0, 31.0, 61.0, 91.0]) == [False, False, False, True]


def test_what_started_gets_more_patience() -> None:
    one = tracked()
    note_sighting(one, Sighting(AttemptStatus.RUNNING, started=STARTED), 0.5)
    assert looks(one, PollResult({}), [1.0, 31.0, 61.0, 91.0]) == [False, False, False, True]


def test_a_sign_of_life_begins_the_wait_anew() -> None:
    one = tracked()
    note_sighting(one, Sighting(AttemptStatus.RUNNING, started=STARTED), 0.5)
    assert looks(one, PollResult({"j.1": Sighting(AttemptStatus.UNKNOWN, beat=b"1")}), [1.0, 80.0]) == [
        False,
        False,
    ]
    assert (
        looks(one, PollResult({"j.1": Sighting(AttemptStatus.UNKNOWN, beat=b"2")}), [90.0, 120.0, 150.0])
        == [False] * 3
    )
    assert looks(one, PollResult({"j.1": Sighting(AttemptStatus.UNKNOWN, beat=b"2")}), [180.0]) == [True]


def test_a_standstill_of_the_machine_between_two_looks_does_not_use_up_the_patience() -> None:
    """What stood still with the broker could give no sign of life meanwhile."""
    one, silent = tracked(), PollResult({"j.1": Sighting(AttemptStatus.UNKNOWN, beat=b"1")})
    note_sighting(one, Sighting(AttemptStatus.RUNNING, started=STARTED), 0.5)
    assert looks(one, silent, [1.0, 2.0, 3.0, 1000.0]) == [False] * 4
    assert looks(one, PollResult({"j.1": Sighting(AttemptStatus.UNKNOWN, beat=b"2")}), [1001.0]) == [False]


def test_a_look_that_began_before_its_arrival_proves_nothing() -> None:
    one = tracked(since=10.0)
    assert looks(one, PollResult({}), [5.0, 6.0, 7.0, 9.0]) == [False] * 4
    assert one.absence is None


def test_a_canceled_one_that_was_in_the_list_is_over_at_once() -> None:
    one = tracked(cancellation=Requested(), presence=Presence.LISTED)
    assert looks(one, PollResult({}), [1.0]) == [True]


def test_what_reappears_was_never_gone() -> None:
    one = tracked()
    assert looks(one, PollResult({}), [1.0, 10.0]) == [False, False]
    note_sighting(one, Sighting(AttemptStatus.QUEUED, "12"), 11.0)
    assert looks(one, PollResult({}), [12.0, 20.0]) == [False, False]


def test_each_start_is_told_once_and_never_later_than_now() -> None:
    one, seen = tracked(), Sighting(AttemptStatus.RUNNING, node="n0")
    note_sighting(one, seen, 1.0)
    assert [type(notice).__name__ for notice in notices(one, seen, 900.0)] == ["AttemptRuns"]
    assert list(notices(one, seen, 901.0)) == []
    started = Sighting(AttemptStatus.RUNNING, node="n0", started=STARTED)
    note_sighting(one, started, 2.0)
    (told,) = notices(one, started, 905.0)
    assert (told.time, told.node, told.pid) == (905.0, "n1", 7)  # type: ignore[union-attr]
    assert list(notices(one, started, 906.0)) == []
