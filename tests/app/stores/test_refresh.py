"""A view asks the broker one question at a time, and misses no change that comes meanwhile."""

from __future__ import annotations

from app.stores.refresh import Refresh


def test_what_is_wanted_while_a_question_is_out_makes_one_more_question() -> None:
    refresh = Refresh()
    assert refresh.begin()
    assert [refresh.begin() for _ in range(3)] == [False, False, False]
    assert refresh.end()
    assert not refresh.under_way
    assert refresh.begin()
    assert not refresh.end()


def test_a_question_that_failed_may_be_asked_again() -> None:
    refresh = Refresh()
    refresh.begin()
    assert not refresh.end()
    assert refresh.begin()
