"""What works beside the window rests while that is busy, and never while anybody waits for the work."""

from __future__ import annotations

import sys
import threading

import pytest

from app.console.pace import Pace


@pytest.mark.parametrize(
    ("beats", "looks"),
    [
        ((), (0.0,)),
        ((0.0, 0.02), (0.021,)),
        ((0.0, 0.05), (0.051, 0.06, 0.2)),
        ((0.0, 0.05, 0.07), (0.071,)),
    ],
    ids=["no beats", "beats in time", "a late one, and then none", "again in time"],
)
def test_it_rests_as_long_as_the_window_is_busy_but_not_while_that_is_silent(
    beats: tuple[float, ...], looks: tuple[float, ...]
) -> None:
    clock = iter((*beats, *looks))
    pace = Pace(clock.__next__)
    for _ in beats:
        pace.beat()
    pace.rest()
    assert list(clock) == []


def test_nobody_in_a_hurry_waits_for_the_end_of_a_busy_time() -> None:
    clock = iter((0.0, 0.05, 0.051))
    pace = Pace(clock.__next__)
    pace.beat()
    pace.beat()
    pace.hurry()
    pace.rest()
    assert list(clock) == []


def test_a_thread_with_its_profiler_does_all_of_its_work() -> None:
    pace, counted = Pace(), list[int]()

    def work() -> None:
        sys.setprofile(pace.profiler())
        counted.extend(abs(number) for number in range(20_000))

    pace.beat()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(counted) == 20_000
