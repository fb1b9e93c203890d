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
