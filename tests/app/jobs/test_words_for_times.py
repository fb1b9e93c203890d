"""Moments in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from app import units

NOON = datetime(2026, 3, 9, 12, 0)


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (datetime(2026, 3, 9, 11, 58), "11:58"),
        (datetime(2026, 3, 9, 0, 1), "00:01"),
        (datetime(2026, 3, 8, 23, 59), "08 Mar, 23:59"),
    ],
)
def test_what_lasts_since_then_is_told_by_when_it_began(then: datetime, said: str) -> None:
    assert units.since(then.timestamp(), NOON.timestamp()) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, ""), (-3.0, "0 s"), (0.0, "0 s"), (0.0004, "0 s"), (0.024, "24 ms"), (0.9996, "1.0 s"),
        (9.9, "9.9 s"), (42.0, "42 s"), (192.0, "3 m 12 s"), (7200.0, "2 h"),
    ],
)  # fmt: skip
def test_spans_are_told_by_their_greatest_units(seconds: float | None, said: str) -> None:
    assert units.duration(seconds) == said


@pytest.mark.parametrize(
    ("past", "said"), [(4.9, "just now"), (59.7, "59 s ago"), (60.0, "1 min ago"), (3599.0, "59 min ago")]
)
def test_no_minute_has_sixty_seconds(past: float, said: str) -> None:
    assert units.ago(NOON.timestamp() - past, NOON.timestamp()) == said
