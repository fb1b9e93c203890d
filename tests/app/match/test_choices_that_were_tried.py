"""A job that has not started: the choice being tried is marked, failed ones bear their error (SA-UI-01)."""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import Qt

from app import units
from app.match.candidates import SITE, WHY
from app.match.choices import FAILED, TRYING, TriedChoices, tried_words
from app.widgets.cells import BADGE, GLYPH
from app.widgets.state_style import StateShape
from broker_core.wire.queue import FailedChoice, WhyView

A, B, C = (f"{one}.example.org:2119/jobmanager-slurm-short" for one in "abc")


def test_a_choice_is_a_set_of_elements_and_the_last_error_counts() -> None:
    tried = TriedChoices(
        [A, B], [FailedChoice(ces=[A], error="full disk"), FailedChoice(ces=[A, B], error="x")]
    )
    assert (tried.badge([B, A]), tried.error([B, A])) == (TRYING, "")
    assert (tried.badge([A]), tried.error([A])) == (FAILED, "Full disk.")
    assert (tried.badge([B]), tried.glyph([B])) == ("", None)


def test_what_is_told_in_words_ends_with_the_next_round() -> None:
    failed = [FailedChoice(ces=[one], error="down") for one in (A, B, C, A + "2")]
    at = time.time() + 30
    told = tried_words(WhyView(job="j", headline="", trying=[C], failed=failed, next_round=at)).splitlines()
    assert told[0] == f"Being tried now: {C}."
    assert told[1] == "1 earlier choice did not take it either."
    assert told[2] == f"{B} did not take it: down."
    assert told[-1] == f"The next selection round is at {units.clock(at)} at the latest."
    assert len(told) == 6
    assert tried_words(WhyView(job="j", headline="")) == ""


def test_two_queues_of_one_site_are_told_apart() -> None:
    failed = [FailedChoice(ces=[f"vega:22/jobmanager-slurm-{one}"], error="no account") for one in ("a", "b")]
    told = tried_words(WhyView(job="j", headline="", failed=failed)).splitlines()
    assert told == [f"vega, slurm-{one} did not take it: no account." for one in ("a", "b")]


def test_the_list_marks_what_is_tried_and_says_the_error(show: Any) -> None:
    view = show(10)
    first, second = view.candidates.at(0), view.candidates.at(1)
    view.mark(TriedChoices([second.ce], [FailedChoice(ces=[first.ce], error="no account")]))
    model = view.candidates
    assert [model.index(at, SITE).data(BADGE) for at in range(3)] == [FAILED, TRYING, None]
    assert model.index(0, SITE).data(GLYPH) == (StateShape.EXCLAMATION, "negative")
    assert model.index(0, WHY).data().startswith("Tried: No account. ")
    assert "Being tried." in model.index(1, SITE).data(Qt.ItemDataRole.AccessibleTextRole)
    view.mark(TriedChoices())
    assert model.index(0, SITE).data(BADGE) == "first"


def test_the_tree_marks_groups_and_the_chosen_one_tells_its_error(show: Any) -> None:
    view = show(12, grouped=True)
    model, size = view.groups, view.groups.index(0, 0)
    first, second = (model.group_at(model.index(at, 0, size)) for at in range(2))
    ces = [[one.ce for one in group.members] for group in (first, second)]
    view.mark(TriedChoices(ces[1], [FailedChoice(ces=ces[0], error="no account")]))
    failed, trying = (model.index(at, 0, size) for at in range(2))
    assert (failed.data(BADGE), trying.data(BADGE)) == (FAILED, TRYING)
    assert failed.data().endswith(": No account.")
    assert trying.data(Qt.ItemDataRole.AccessibleTextRole).endswith(TRYING)
    view.tree.setCurrentIndex(trying)
    view.tree.setCurrentIndex(failed)
    assert view.explanation.verdict.text() == "Did not take the job when it was tried: No account."
