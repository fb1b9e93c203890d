"""What computing elements did lately, and which of them are throttled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from broker_core.resources.reputation import ENOUGH, Reputation

HOLE, GOOD = "hole:22/x", "good:22/x"


def learned(half_life: float = 900.0) -> Reputation:
    return Reputation(half_life, 10.0, 600.0)


def throttled() -> Reputation:
    reputation = learned()
    for _ in range(3):
        reputation.failed(HOLE, "the starter died", 0.0)
    return reputation


def test_three_failures_without_a_success_throttle_with_reason_and_end() -> None:
    reputation = learned()
    reputation.failed(HOLE, "the starter died", 0.0)
    reputation.failed(HOLE, "the starter died", 0.0)
    assert reputation.at(HOLE, 0.0) is None
    reputation.failed(HOLE, "the starter died", 0.0)
    throttle = reputation.at(HOLE, 0.0)
    assert throttle is not None
    assert (throttle.reason, throttle.most, throttle.next) == ("the starter died", 1, 10.0)
    assert throttle.until == 900.0


def test_a_site_that_mostly_does_well_is_not_throttled_by_single_failures() -> None:
    reputation = learned()
    for _ in range(20):
        reputation.succeeded(GOOD, "kind", 0.0)
    for _ in range(10):
        reputation.failed(GOOD, "a node died", 0.0)
    assert reputation.at(GOOD, 0.0) is None
    assert round(reputation.successes[GOOD], 2) == 0.67


def test_each_failed_probe_doubles_the_pause_up_to_the_longest() -> None:
    reputation = throttled()
    pauses, now = [], 0.0
    for _ in range(8):
        throttle = reputation.at(HOLE, now)
        assert throttle is not None
        pauses.append(throttle.next - now)
        now = throttle.next
        reputation.failed(HOLE, "again", now)
    assert pauses == [10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 600.0, 600.0]


def test_jobs_that_were_sent_before_the_throttle_do_not_make_the_pause_longer() -> None:
    reputation = throttled()
    for _ in range(50):
        reputation.failed(HOLE, "the starter died", 1.0)
    throttle = reputation.at(HOLE, 1.0)
    assert throttle is not None
    assert throttle.next == 10.0


def test_successes_let_more_jobs_in_until_the_site_is_trusted() -> None:
    reputation = throttled()
    most = []
    while (throttle := reputation.at(HOLE, 20.0)) is not None:
        most.append(throttle.most)
        reputation.succeeded(HOLE, "kind", 20.0)
    assert most == [1, 2, 4, 8, ENOUGH]
    assert HOLE not in reputation.throttled


def test_a_failure_on_the_way_back_begins_anew() -> None:
    reputation = throttled()
    reputation.succeeded(HOLE, "kind", 20.0)
    reputation.failed(HOLE, "again", 30.0)
    throttle = reputation.at(HOLE, 30.0)
    assert throttle is not None
    assert (throttle.most, throttle.next) == (1, 50.0)


def test_time_alone_brings_trust_back() -> None:
    reputation = throttled()
    assert reputation.at(HOLE, 899.0) is not None
    assert reputation.at(HOLE, 901.0) is None


def test_counts_decay_by_half_in_each_half_life() -> None:
    reputation = learned(100.0)
    for _ in range(8):
        reputation.succeeded(GOOD, "kind", 0.0)
    assert [round(reputation.of(GOOD, moment).done, 3) for moment in (0.0, 100.0, 200.0)] == [8.0, 4.0, 2.0]


def test_programs_that_end_badly_everywhere_speak_against_no_place() -> None:
    reputation = learned()
    for place in (HOLE, GOOD):
        for _ in range(50):
            reputation.ended_badly(place, "broken script", "exit code 1", 0.0)
    assert not reputation.throttled
    assert reputation.successes == {HOLE: 1.0, GOOD: 1.0}


def test_programs_that_end_well_elsewhere_speak_against_the_place_where_they_end_badly() -> None:
    reputation = learned()
    reputation.succeeded(GOOD, "script", 0.0)
    for _ in range(3):
        reputation.ended_badly(HOLE, "script", "exit code 1", 0.0)
    throttle = reputation.at(HOLE, 0.0)
    assert throttle is not None
    assert throttle.reason == "exit code 1; such jobs end well elsewhere"


def test_the_same_is_learned_when_the_good_end_comes_later() -> None:
    reputation = learned()
    for _ in range(4):
        reputation.ended_badly(HOLE, "script", "exit code 1", 0.0)
    assert reputation.at(HOLE, 0.0) is None
    reputation.succeeded(GOOD, "script", 5.0)
    assert reputation.at(HOLE, 5.0) is not None
    assert reputation.at(GOOD, 5.0) is None


def test_many_different_programs_that_end_badly_in_a_row_speak_against_the_place() -> None:
    reputation = learned()
    reputation.succeeded(GOOD, "another", 0.0)
    for kind in range(8):
        reputation.ended_badly(HOLE, f"script {kind}", "exit code 1", 0.0)
    assert reputation.at(HOLE, 0.0) is not None


def test_they_do_not_where_nothing_is_known_to_end_well_elsewhere() -> None:
    reputation = learned()
    for kind in range(30):
        reputation.ended_badly(HOLE, f"script {kind}", "exit code 1", 0.0)
    assert reputation.at(HOLE, 0.0) is None


@given(
    some.lists(
        some.tuples(
            some.sampled_from(("good", "bad", "odd", "neutral")),
            some.sampled_from((HOLE, GOOD)),
            some.sampled_from(("a", "b", "c")),
            some.floats(0, 2000),
        ),
        max_size=60,
    )
)
def test_whatever_happens_shares_stay_shares_and_every_throttle_ends(
    story: list[tuple[str, str, str, float]],
) -> None:
    reputation, now = learned(), 0.0
    for what, ce, kind, step in story:
        now += step
        match what:
            case "good":
                reputation.succeeded(ce, kind, now)
            case "bad":
                reputation.failed(ce, "no", now)
            case "odd":
                reputation.ended_badly(ce, kind, "exit code 1", now)
            case _:
                reputation.neutral(ce, now)
        assert all(0.0 <= share <= 1.0 for share in reputation.successes.values())
        for one in list(reputation.throttled):
            throttle = reputation.at(one, now)
            assert throttle is None or (throttle.next <= now + 600.0 and now < throttle.until <= now + 2700.0)
    assert all(reputation.at(one, now + 2701.0) is None for one in (HOLE, GOOD))
